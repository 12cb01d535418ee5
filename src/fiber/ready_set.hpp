// SPDX-License-Identifier: BSD-3-Clause
// The ready fibers of one worker, as a bitmap of several levels that only the worker itself writes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "fiber/lazy_memory.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fiber {

using bit_word = std::atomic<std::uint64_t>;

/// Bitmaps over `positions` bits: level 0 has a bit per position, each level above a bit per word
/// of the one below, down to a single word.
struct bit_levels {
  static constexpr int most = 6;

  explicit bit_levels(std::uint32_t positions) : memory(bytes_for(positions)) {
    std::size_t words = positions / 64;
    std::byte* at = memory.at();
    for (auto& l : level) {
      l = reinterpret_cast<bit_word*>(at);
      at += (words < 8 ? 8 : words) * sizeof(bit_word);  // at least a cache line each
      words = (words + 63) / 64;
    }
    SINEW_ENSURE(words <= 1 && at <= memory.at() + bytes_for(positions));
  }

  lazy_memory memory;
  std::array<bit_word*, most> level{};

 private:
  static std::size_t bytes_for(std::uint32_t positions) noexcept {
    return positions / 8 + positions / 504 + most * std::size_t{128};
  }
};

/// Setting a bit costs three plain instructions when its word has others; a word that was empty is
/// made known to the level above. Words are taken whole. Plain loads and stores suffice, since only
/// the owner writes; they are relaxed atomics because reports look from other threads.
///
/// Invariant: a word at level l < top that is not empty has its bit at level l + 1 set, or that bit
/// is in rest_[l + 1] (taken, but not yet looked at).
///
/// Order, and the bound on waiting: a round visits each position at most once, upwards. A bit set
/// ahead of the round's taken words is found in the same round, any other in the next one. So of
/// the other fibers each runs at most twice before a fiber that is ready: with n fibers it waits
/// for at most 2 (n - 1) switches.
class ready_set {
 public:
  explicit ready_set(std::uint32_t positions) : levels_(positions) {}

  /// Marks a position. Hot.
  void set(std::uint32_t position) noexcept {
    merge(position / 64, std::uint64_t{1} << (position % 64));
  }

  /// Is this position in the current word, and above the first of rest()?
  [[nodiscard]] bool is_ahead(std::uint32_t position) const noexcept {
    return position / 64 == where_[0] &&
           static_cast<int>(position % 64) > std::countr_zero(rest_[0]);
  }
  /// Marks a position for this round, if its word is still being visited; else as set().
  void set_in_round(std::uint32_t position) noexcept {
    if (position / 64 == where_[0]) {
      rest_[0] |= std::uint64_t{1} << (position % 64);
    } else {
      set(position);
    }
  }

  /// Marks up to 64 positions: those of one word.
  void merge(std::uint32_t index, std::uint64_t bits) noexcept {
    if (index >= limit_) [[unlikely]] {
      rise(index);
    }
    bit_word& w = levels_.level[0][index];
    const std::uint64_t before = w.load(std::memory_order_relaxed);
    w.store(before | bits, std::memory_order_relaxed);
    if (before == 0 && top_ > 0) {
      tell_above(index);
    }
  }

  /// Bits taken of the current word, and which word that is.
  [[nodiscard]] std::uint64_t rest() const noexcept { return rest_[0]; }
  [[nodiscard]] std::uint32_t current_word() const noexcept { return where_[0]; }

  /// The lowest of rest(), which must not be empty, is taken off.
  unsigned take() noexcept {
    SINEW_EXPECT(rest_[0] != 0);
    const auto bit = static_cast<unsigned>(std::countr_zero(rest_[0]));
    rest_[0] &= rest_[0] - 1;
    return bit;
  }

  /// With rest() empty: takes the next word that is not, and begins a new round if need be. False
  /// if no position is marked. Hot.
  bool advance() noexcept {
    SINEW_EXPECT(rest_[0] == 0);
    if (top_ == 0) {
      rest_[0] = take_word(0, 0);
      return rest_[0] != 0;
    }
    int l = 1;
    while (l <= top_ && rest_[at(l)] == 0) {
      ++l;
    }
    if (l > top_) {
      l = top_;
      rest_[at(l)] = take_word(l, 0);
      if (rest_[at(l)] == 0) {
        return false;
      }
    }
    while (l > 0) {
      const std::uint64_t bits = rest_[at(l)];
      const std::uint32_t below =
          where_[at(l)] * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      rest_[at(l)] = bits & (bits - 1);
      --l;
      where_[at(l)] = below;
      rest_[at(l)] = take_word(l, below);
      SINEW_ASSERT(rest_[at(l)] != 0);  // nobody empties a word but by way of its bit above
    }
    return true;
  }

  /// For reports, from any thread: may be out of date.
  [[nodiscard]] bool holds(std::uint32_t position) const noexcept {
    return (levels_.level[0][position / 64].load(std::memory_order_relaxed) >> (position % 64)) & 1;
  }
  /// How many are marked, of the first 4,096 positions. Owner only.
  [[nodiscard]] std::uint32_t count() const noexcept {
    auto all = static_cast<std::uint32_t>(std::popcount(rest_[0]));
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(limit_, 64); ++i) {
      const std::uint64_t word = levels_.level[0][i].load(std::memory_order_relaxed);
      all += static_cast<std::uint32_t>(std::popcount(word));
    }
    return all;
  }
  /// More than 4,096 positions are in use: more fibers than stay in the nearer caches.
  [[nodiscard]] bool is_large() const noexcept { return top_ >= 2; }

 private:
  static constexpr std::size_t at(int level) noexcept { return static_cast<std::size_t>(level); }

  std::uint64_t take_word(int l, std::uint32_t index) noexcept {
    bit_word& w = levels_.level[at(l)][index];
    const std::uint64_t bits = w.load(std::memory_order_relaxed);
    w.store(0, std::memory_order_relaxed);
    return bits;
  }

  [[gnu::noinline]] void tell_above(std::uint32_t index) noexcept {
    for (int l = 1; l <= top_; ++l) {
      bit_word& w = levels_.level[at(l)][index / 64];
      const std::uint64_t before = w.load(std::memory_order_relaxed);
      w.store(before | std::uint64_t{1} << (index % 64), std::memory_order_relaxed);
      if (before != 0) {
        return;
      }
      index /= 64;
    }
  }

  /// Adds levels until the root word covers level-0 word `index`. The old root becomes the first
  /// word below the new one.
  [[gnu::noinline]] void rise(std::uint32_t index) noexcept {
    while (index >= limit_) {
      const bool any = levels_.level[at(top_)][0].load(std::memory_order_relaxed) != 0;
      ++top_;
      SINEW_ASSERT(top_ < bit_levels::most);
      rest_[at(top_)] = 0;
      where_[at(top_)] = 0;
      levels_.level[at(top_)][0].store(any ? 1 : 0, std::memory_order_relaxed);
      limit_ *= 64;
    }
  }

  std::array<std::uint64_t, bit_levels::most> rest_{};
  std::array<std::uint32_t, bit_levels::most> where_{};
  std::uint64_t limit_ = 1;  ///< level-0 words that the root word covers
  int top_ = 0;              ///< level of the root word
  bit_levels levels_;
};

}  // namespace sinew::fiber
