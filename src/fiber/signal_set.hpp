// SPDX-License-Identifier: BSD-3-Clause
// Fibers of one worker that other threads have signalled: a bitmap written by everybody.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "fiber/ready_set.hpp"
#include "fiber/switch.hpp"

namespace sinew::fiber {

/// The first cache line of each level (8 words) is its own root: the worker looks at these lines
/// and nothing else. So a signal to one of the first 512 positions is one atomic instruction on one
/// line, to one of the first 32,768 at most two, and so on; a signal that finds its word not empty
/// is always a single one.
///
/// No signal is lost. A setter that finds a word empty sets the bit above it; one that finds it not
/// empty leaves that to the setter before it. The worker takes a bit above first (acquire) and the
/// word below after: if the word is set again in between, either the worker's exchange of the word
/// gets it, or the setter found the word empty and tells the level above again.
/// Memory order: setting is a release, taking an acquire, so the fiber sees what came before the
/// signal. Setting is also sequentially consistent, for the sleeper's sake (see inbox.hpp).
template <class Steps>
class signal_set {
 public:
  explicit signal_set(std::uint32_t positions) : levels_(positions) {}

  /// Any thread. Hot.
  void set(std::uint32_t position) noexcept {
    std::uint32_t index = position / 64;
    Steps::step();
    if (index < root_words) {
      // Nobody asks what it was, so it is one instruction, and one trip of the line.
      levels_.level[0][index].fetch_or(std::uint64_t{1} << (position % 64),
                                       std::memory_order_seq_cst);
      return;
    }
    std::uint64_t before = levels_.level[0][index].fetch_or(std::uint64_t{1} << (position % 64),
                                                            std::memory_order_seq_cst);
    for (std::size_t l = 1; before == 0 && index >= root_words; ++l) {
      const std::uint64_t bit = std::uint64_t{1} << (index % 64);
      index /= 64;
      Steps::step();
      before = levels_.level[l][index].fetch_or(bit, std::memory_order_seq_cst);
    }
  }

  /// Gives all that is set to take(word index, bits). `levels`: how many may be in use. Owner only.
  template <class Take>
  bool drain(std::size_t levels, Take take) noexcept {
    SINEW_EXPECT(levels <= levels_.level.size());
    bool any = false;
    for (std::size_t l = 0; l < levels; ++l) {
      Steps::step();
      std::uint64_t seen = 0;
      for (std::uint32_t i = 0; i < root_words; ++i) {
        seen |= levels_.level[l][i].load(std::memory_order_relaxed);
      }
      if (seen != 0) [[unlikely]] {
        any = true;
        for (std::uint32_t i = 0; i < root_words; ++i) {
          drain_word(l, i, take);
        }
      }
    }
    return any;
  }

  /// Fetches the lines that drain() looks at for writing: with one trip between the cores it then
  /// has both the signal and the right to take it. For an idle owner. Owner only.
  void expect(std::size_t levels) const noexcept {
    for (std::size_t l = 0; l < levels; ++l) {
      sinew_fiber_own_line(levels_.level[l]);
    }
  }

  /// Owner only; sequentially consistent. A setter half way up counts as nothing: it has still to
  /// look whether the worker sleeps.
  [[nodiscard]] bool empty() const noexcept {
    for (const bit_word* level : levels_.level) {
      Steps::step();
      for (std::uint32_t i = 0; i < root_words; ++i) {
        if (level[i].load(std::memory_order_seq_cst) != 0) {
          return false;
        }
      }
    }
    return true;
  }

  /// A hint, from any thread: anything at the roots?
  [[nodiscard]] bool seems_any() const noexcept {
    return std::any_of(levels_.level.begin(), levels_.level.end(), [](const bit_word* level) {
      return std::any_of(level, level + root_words,
                         [](const bit_word& w) { return w.load(std::memory_order_relaxed) != 0; });
    });
  }

  /// For reports.
  [[nodiscard]] bool holds(std::uint32_t position) const noexcept {
    return (levels_.level[0][position / 64].load(std::memory_order_relaxed) >> (position % 64)) & 1;
  }

  /// Levels that positions below `positions` can use.
  [[nodiscard]] static std::size_t levels_for(std::uint64_t positions) noexcept {
    std::size_t l = 1;
    for (std::uint64_t covered = std::uint64_t{root_words} * 64; covered < positions;
         covered *= 64) {
      ++l;
    }
    return l;
  }

 private:
  static constexpr std::uint32_t root_words = 8;

  template <class Take>
  void drain_word(std::size_t l, std::uint32_t index, Take& take) noexcept {
    bit_word& w = levels_.level[l][index];
    if (w.load(std::memory_order_relaxed) == 0) {
      return;
    }
    Steps::step();
    std::uint64_t bits = w.exchange(0, std::memory_order_acquire);
    if (l == 0) {
      if (bits != 0) {
        take(index, bits);
      }
      return;
    }
    for (; bits != 0; bits &= bits - 1) {
      drain_word(l - 1, index * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)), take);
    }
  }

  bit_levels levels_;
};

}  // namespace sinew::fiber
