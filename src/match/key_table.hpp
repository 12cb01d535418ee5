// From a key (source and tag, either perhaps a wildcard) to the head of its queue. Open addressing
// with linear probing; an erased slot is filled by moving later ones back, so nothing is left
// behind. At most half full, so a probe ends after 1.5 (found) to 2.5 (absent) slots on average,
// whatever the keys: they are mixed by two multiplications first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/match/engine.hpp"

namespace sinew::match {

using key = std::uint64_t;

[[nodiscard]] constexpr key key_of(const envelope& e) noexcept {
  return key{static_cast<std::uint32_t>(e.source)} << 32 | static_cast<std::uint32_t>(e.tag);
}

[[nodiscard]] constexpr std::uint64_t mixed(key k) noexcept {
  k = (k ^ (k >> 32)) * 0x9E3779B97F4A7C15u;
  k = (k ^ (k >> 29)) * 0xBF58476D1CE4E5B9u;
  return k ^ (k >> 32);
}

template <class Entry>
class key_table {
 public:
  struct slot {
    key name;
    Entry* head;  ///< null: the slot is free
  };

  /// The slot of `k`, or null. Adds the slots looked at to `examined`.
  [[nodiscard]] slot* find(key k, std::uint64_t& examined) noexcept {
    for (std::size_t i = home(k);; i = (i + 1) & mask_) {
      slot& s = slots_[i];
      if (s.head == nullptr) return nullptr;
      ++examined;
      if (s.name == k) return &s;
    }
  }

  /// The slot of `k`; a new one has a null head, which the caller must set before the next call.
  /// There must be room (see reserve).
  [[nodiscard]] slot& find_or_add(key k) noexcept {
    for (std::size_t i = home(k);; i = (i + 1) & mask_) {
      slot& s = slots_[i];
      if (s.head != nullptr && s.name != k) continue;
      if (s.head == nullptr) {
        s.name = k;
        ++used_;
      }
      return s;
    }
  }

  /// Frees a slot whose head has become null. Moves others: pointers to slots end here.
  void erase(slot& s) noexcept {
    SINEW_EXPECT(s.head == nullptr);
    --used_;
    std::size_t hole = static_cast<std::size_t>(&s - slots_.get());
    for (std::size_t i = (hole + 1) & mask_; slots_[i].head != nullptr; i = (i + 1) & mask_) {
      // Movable if its home is not after the hole on the way from the hole to i.
      if (((i - home(slots_[i].name)) & mask_) < ((i - hole) & mask_)) continue;
      slots_[hole] = slots_[i];
      slots_[i].head = nullptr;
      hole = i;
    }
  }

  /// Makes room for `more` keys, doubling as often as needed. Throws std::bad_alloc, unchanged.
  void reserve(std::size_t more) {
    if (2 * (used_ + more) > capacity()) grow(used_ + more);
  }

  /// Calls fn(key, head) for each queue, in no order.
  template <class Fn>
  void each(Fn&& fn) const {
    for (std::size_t i = 0; i < capacity(); ++i) {
      if (slots_[i].head != nullptr) fn(slots_[i].name, slots_[i].head);
    }
  }

 private:
  static constexpr std::size_t first_capacity = 32;

  [[nodiscard]] std::size_t home(key k) const noexcept {
    return static_cast<std::size_t>(mixed(k)) & mask_;
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return slots_ == nullptr ? 0 : mask_ + 1; }

  void grow(std::size_t keys) {
    std::size_t wanted = first_capacity;
    while (wanted < 2 * keys) wanted *= 2;
    auto fresh = std::make_unique<slot[]>(wanted);
    const std::size_t old_capacity = capacity();
    const auto old = std::exchange(slots_, std::move(fresh));
    mask_ = wanted - 1;
    used_ = 0;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].head != nullptr) find_or_add(old[i].name).head = old[i].head;
    }
  }

  std::unique_ptr<slot[]> slots_;
  std::size_t mask_ = 0;
  std::size_t used_ = 0;
};

}  // namespace sinew::match
