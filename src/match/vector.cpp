// SPDX-License-Identifier: BSD-3-Clause
// Brute force, many at once (after the vector and "fuzzy" matching of Dosanjh, Schonbein and others
// in Open MPI): entries stand in the order of storing in blocks of 64, each with a key truncated to
// 16 bits, 8 of the source and 8 of the tag, and a mask that is empty where a wildcard stands. One
// call of a kernel compares a block; what agrees is then compared in full, oldest first.
// The cost grows with depth / 64 whatever the tags, wildcards cost nothing, and 32,768 entries are
// 128 KiB of keys and masks to read.

#include <algorithm>
#include <bit>
#include <utility>

#include "match/engines.hpp"
#include "match/stored_engine.hpp"
#include "match/vector_kernels.hpp"
#include "sinew/base/check.hpp"

namespace sinew::match {
namespace {

[[nodiscard]] compare_keys best_kernel() noexcept {
  const vector_kernel_list list = vector_kernels();
  SINEW_ASSERT(list.count != 0 && list.first[list.count - 1].usable);
  return std::find_if(list.first, list.first + list.count, [](auto& k) { return k.usable; })
      ->compare;
}

/// Eight bits in which nearby numbers and multiples of powers of two differ.
[[nodiscard]] constexpr std::uint32_t truncated(std::int32_t number) noexcept {
  return static_cast<std::uint32_t>(number) * 0x9E3779B1u >> 24;
}

[[nodiscard]] constexpr std::uint16_t key_of(const envelope& e) noexcept {
  return static_cast<std::uint16_t>(truncated(e.source.value()) << 8 | truncated(e.tag.value()));
}

[[nodiscard]] constexpr std::uint16_t mask_of(const envelope& e) noexcept {
  return static_cast<std::uint16_t>((e.source == any_source ? 0u : 0xFF00u) |
                                    (e.tag == any_tag ? 0u : 0x00FFu));
}

[[nodiscard]] constexpr const envelope& envelope_of(const receive& r) noexcept { return r.wanted; }
[[nodiscard]] constexpr const envelope& envelope_of(const message& m) noexcept { return m.sent; }

/// Both sides are the same: wildcards are in the stored masks, or in the mask of the search.
/// While stored, an entry's link.pointer[0] is its block; its place there is found by its address.
template <class Entry>
class blocks {
 public:
  blocks() : compare_(best_kernel()), first_(new block), last_(first_) {}
  blocks(const blocks&) = delete;
  blocks& operator=(const blocks&) = delete;
  ~blocks() {
    free_chain(first_);
    free_chain(spare_);
  }

  void add(Entry& e) {
    // Places after the youngest entry are free to use again; those before it are not.
    std::size_t place = static_cast<std::size_t>(std::bit_width(last_->used));
    if (place == vector_block) {
      extend();
      place = 0;
    }
    block& b = *last_;
    SINEW_ASSERT(place < vector_block && (b.used >> place) == 0);
    b.keys[place] = key_of(envelope_of(e));
    b.masks[place] = mask_of(envelope_of(e));
    b.entries[place] = &e;
    b.used |= std::uint64_t{1} << place;
    e.link.pointer[0] = &b;
    e.link.pointer[1] = &b.entries[place];
  }

  Entry* find(const envelope& sought, std::uint64_t& examined) const noexcept {
    const std::uint16_t key = key_of(sought);
    const std::uint16_t mask = mask_of(sought);
    for (const block* b = first_; b != nullptr; b = b->next) {
      if (b->used == 0) {
        continue;
      }
      std::uint64_t agree = b->used & compare_(b->keys, b->masks, key, mask);
      for (; agree != 0; agree &= agree - 1) {
        Entry* const e = b->entries[std::countr_zero(agree)];
        ++examined;
        if (fits(*e, sought)) {
          return e;
        }
      }
    }
    return nullptr;
  }

  void remove(Entry& e) noexcept {
    block& b = *static_cast<block*>(e.link.pointer[0]);
    const auto place = static_cast<Entry**>(e.link.pointer[1]) - b.entries;
    SINEW_EXPECT(b.entries[place] == &e && (b.used >> place & 1) != 0);
    b.used &= ~(std::uint64_t{1} << place);
    if (b.used == 0 && &b != last_) {
      retire(b);
    }
  }

  template <class Fn>
  void each(Fn&& fn) const {
    for (const block* b = first_; b != nullptr; b = b->next) {
      for (std::uint64_t left = b->used; left != 0; left &= left - 1) {
        fn(b->entries[std::countr_zero(left)]);
      }
    }
  }

 private:
  static_assert(vector_block == 64, "a block's places are the bits of a word");
  struct alignas(64) block {
    std::uint16_t keys[vector_block] = {};
    std::uint16_t masks[vector_block] = {};
    std::uint64_t used = 0;  ///< bit i: place i holds an entry
    block* next = nullptr;
    block* previous = nullptr;
    Entry* entries[vector_block] = {};
  };

  void extend() {
    block* b = spare_;
    if (b != nullptr) {
      spare_ = b->next;
    } else {
      b = new block;
    }
    b->next = nullptr;
    b->previous = last_;
    last_->next = b;
    last_ = b;
  }

  /// Keeps an empty block for later.
  void retire(block& b) noexcept {
    SINEW_EXPECT(b.used == 0 && b.next != nullptr);
    (b.previous == nullptr ? first_ : b.previous->next) = b.next;
    b.next->previous = b.previous;
    b.next = spare_;
    spare_ = &b;
  }

  static void free_chain(block* b) noexcept {
    while (b != nullptr) {
      delete std::exchange(b, b->next);
    }
  }

  compare_keys compare_;
  block* first_;
  block* last_;  ///< may be empty; all others are not
  block* spare_ = nullptr;
};

}  // namespace

std::unique_ptr<engine> make_vector() {
  return std::make_unique<stored_engine<blocks<receive>, blocks<message>>>("vector");
}

}  // namespace sinew::match
