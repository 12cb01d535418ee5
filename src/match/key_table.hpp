// SPDX-License-Identifier: BSD-3-Clause
// From a key (source and tag, either perhaps a wildcard) to the head of its queue. Open addressing
// with linear probing, at most 5/8 full; an erased slot is filled by moving later ones back, so
// nothing is left behind.
//
// Programs number their tags, so eight neighbouring tags of one source have their homes in one
// cache line: only what lies above the lowest three bits is hashed, and says which line; the three
// bits, turned by some of the hash, say where in it. So that those eight do not become one cluster,
// the slot probed next is not the neighbour but the same place in the next line, and behind the
// last line the next place in the first. Below, a position is a slot's number in that order.
//
// Keys stand in the order of their homes: one that comes later displaces those nearer to their own
// (Celis's Robin Hood hashing). So a search ends where a slot is nearer to its home than the search
// is to its own, and takes about as long whether the key is there or not.
//
// A slot is one word: the address of the head in the low 48 bits, then how far the slot is from
// its key's home (as far as 8 bits can say), then 8 bits of the hash, which spare nearly all looks
// at heads with another key. A free slot is 0.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "match/hash_key.hpp"
#include "sinew/base/check.hpp"
#include "sinew/match/engine.hpp"

namespace sinew::match {

using key = std::uint64_t;

[[nodiscard]] constexpr key key_of(const envelope& e) noexcept {
  return key{static_cast<std::uint32_t>(e.source.value())} << 32 |
         static_cast<std::uint32_t>(e.tag.value());
}

/// `KeyOf` gives the key under which an entry is stored, by operator()(const Entry&).
template <class Entry, class KeyOf>
class key_table {
 public:
  using slot = std::uint64_t;

  explicit key_table(const hash_key& secret, KeyOf key_of_entry = {}) noexcept
      : secret_(&secret), key_of_entry_(key_of_entry) {}

  [[nodiscard]] static bool can_hold(const Entry& e) noexcept {
    return reinterpret_cast<std::uintptr_t>(&e) >> address_bits == 0;
  }
  [[nodiscard]] static Entry* head(slot s) noexcept {
    return reinterpret_cast<Entry*>(s & address_mask);
  }

  [[nodiscard]] std::size_t used() const noexcept { return used_; }

  /// The slot of `k`, or null. Adds the slots looked at to `examined`. There must have been room
  /// for a key at some time (see reserve).
  [[nodiscard]] slot* find(key k, std::uint64_t& examined) noexcept {
    SINEW_EXPECT(lines_ != nullptr && used_ < capacity());  // or the loop would not end
    const std::uint64_t h = hash(k);
    std::size_t away = 0;
    for (std::size_t p = home(k, h);; p = next(p), ++away) {
      slot& s = at(p);
      if (s == 0 || nearer_home(s, away)) {
        return nullptr;
      }
      ++examined;
      if (holds(s, k, h)) {
        return &s;
      }
    }
  }

  /// The head of the queue of `k`; or null, and then `e` has become it. There must be room.
  [[nodiscard]] Entry* head_or_put(key k, Entry& e) noexcept {
    SINEW_EXPECT(can_hold(e) && key_of_entry_(e) == k);
    SINEW_EXPECT(used_ < full_at(capacity()));
    const std::uint64_t h = hash(k);
    std::size_t away = 0;
    std::size_t p = home(k, h);
    for (; at(p) != 0 && !nearer_home(at(p), away); p = next(p), ++away) {
      if (holds(at(p), k, h)) {
        return head(at(p));
      }
    }
    slot moving = std::exchange(at(p), make_slot(e, h, away));
    for (; moving != 0; p = next(p)) {  // what stood there, and all behind it, one further
      moving = std::exchange(at(next(p)), with_distance(moving, distance(moving, p) + 1));
    }
    ++used_;
    return nullptr;
  }

  /// Of the same key.
  static void set_head(slot& s, Entry& e) noexcept {
    SINEW_EXPECT(s != 0 && can_hold(e));
    s = (s & ~address_mask) | reinterpret_cast<std::uintptr_t>(&e);
  }

  /// Frees a slot. Moves others: pointers to slots end here.
  void erase(slot& s) noexcept {
    SINEW_EXPECT(s != 0 && used_ != 0);
    --used_;
    const auto index = static_cast<std::size_t>(&s - lines_[0].data());
    SINEW_ASSERT(index < capacity());
    std::size_t hole = index % per_line << shift_ | index / per_line;
    for (std::size_t p = next(hole); at(p) != 0; hole = p, p = next(p)) {
      const std::size_t away = distance(at(p), p);
      if (away == 0) {
        break;  // those behind it have homes no earlier
      }
      at(hole) = with_distance(at(p), away - 1);
    }
    at(hole) = 0;
  }

  /// Makes room for `more` keys, doubling as often as needed. Throws std::bad_alloc, unchanged.
  void reserve(std::size_t more) {
    if (full_at(capacity()) < used_ + more) [[unlikely]] {
      grow(used_ + more);
    }
    SINEW_ENSURE(full_at(capacity()) >= used_ + more);
  }

  /// Loads the line in which `k` will be looked for.
  void prefetch(key k) const noexcept { __builtin_prefetch(&lines_[hash(k) & line_mask_], 1); }

  /// Calls fn(head) for each queue, in no order.
  template <class Fn>
  void each(Fn&& fn) const {
    for (std::size_t p = 0; p < capacity(); ++p) {
      if (const slot s = lines_[p / per_line][p % per_line]; s != 0) {
        fn(head(s));
      }
    }
  }

 private:
  static constexpr int address_bits = 48;
  static constexpr slot address_mask = (slot{1} << address_bits) - 1;
  static constexpr int mark_bits = 8;  // of the hash, above as many of the distance
  static constexpr std::size_t most_distance = (1 << mark_bits) - 1;
  static constexpr int mark_shift = address_bits + mark_bits;
  static constexpr std::size_t per_line = 8;
  static constexpr std::size_t first_lines = 8;
  /// When growing, so many heads are loaded ahead.
  static constexpr std::size_t ahead = 16;

  struct alignas(64) line : std::array<slot, per_line> {};
  static_assert(sizeof(line) == 64, "eight slots are one cache line");
  static_assert(mark_shift + mark_bits == 64, "address, distance and mark fill a slot");

  // Of the hash: low bits the line, bits 53 and up the mark, the highest three the turn. All
  // members of a line's eight share it.
  [[nodiscard]] std::uint64_t hash(key k) const noexcept {
    return keyed_hash(*secret_, k / per_line);
  }
  [[nodiscard]] std::size_t home(key k, std::uint64_t h) const noexcept {
    return (k + (h >> 61)) % per_line << shift_ | (h & line_mask_);
  }
  [[nodiscard]] static constexpr slot mark(std::uint64_t h) noexcept {
    return h >> 53 << mark_shift;
  }

  [[nodiscard]] std::size_t capacity() const noexcept {
    return lines_ == nullptr ? 0 : position_mask() + 1;
  }
  [[nodiscard]] std::size_t position_mask() const noexcept { return (per_line << shift_) - 1; }
  [[nodiscard]] static constexpr std::size_t full_at(std::size_t capacity) noexcept {
    return capacity / 8 * 5;
  }
  [[nodiscard]] std::size_t next(std::size_t p) const noexcept { return (p + 1) & position_mask(); }
  [[nodiscard]] slot& at(std::size_t p) const noexcept {
    return lines_[p & line_mask_][p >> shift_];
  }

  [[nodiscard]] bool holds(slot s, key k, std::uint64_t h) const noexcept {
    return (s ^ mark(h)) >> mark_shift == 0 && key_of_entry_(*head(s)) == k;
  }
  /// Whether `s` is certainly nearer to its home than `away`.
  [[nodiscard]] static bool nearer_home(slot s, std::size_t away) noexcept {
    return (s >> address_bits & most_distance) < std::min(away, most_distance);
  }
  [[nodiscard]] static slot with_distance(slot s, std::size_t away) noexcept {
    constexpr slot field = slot{most_distance} << address_bits;
    return (s & ~field) | slot{std::min(away, most_distance)} << address_bits;
  }
  [[nodiscard]] static slot make_slot(Entry& e, std::uint64_t h, std::size_t away) noexcept {
    return with_distance(mark(h) | reinterpret_cast<std::uintptr_t>(&e), away);
  }
  [[nodiscard]] std::size_t distance(slot s, std::size_t p) const noexcept {
    const std::size_t said = s >> address_bits & most_distance;
    if (said < most_distance) [[likely]] {
      return said;
    }
    const key k = key_of_entry_(*head(s));
    return (p - home(k, hash(k))) & position_mask();
  }

  void grow(std::size_t keys) {
    std::size_t wanted = first_lines;
    while (full_at(wanted * per_line) < keys) {
      wanted *= 2;
    }
    auto fresh = std::make_unique<line[]>(wanted);
    const std::size_t slots = capacity();
    [[maybe_unused]] const std::size_t before = used_;
    const auto old = std::exchange(lines_, std::move(fresh));
    line_mask_ = wanted - 1;
    shift_ = std::countr_zero(wanted);
    used_ = 0;
    for (std::size_t i = 0; i < slots; ++i) {
      const std::size_t later = std::min(i + ahead, slots - 1);
      __builtin_prefetch(head(old[later / per_line][later % per_line]));
      const slot s = old[i / per_line][i % per_line];
      if (s != 0) {
        (void)head_or_put(key_of_entry_(*head(s)), *head(s));
      }
    }
    SINEW_ENSURE(used_ == before && std::has_single_bit(wanted));
  }

  const hash_key* secret_;
  std::unique_ptr<line[]> lines_;
  std::size_t line_mask_ = 0;
  std::size_t used_ = 0;
  int shift_ = 0;  ///< the number of lines is 2 to this
  [[no_unique_address]] KeyOf key_of_entry_;
};

}  // namespace sinew::match
