// SPDX-License-Identifier: BSD-3-Clause
// The module's own words in each rank's part of the heap memory. All are valid when zero.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/rma/heap.hpp"

namespace sinew::rma {

inline constexpr std::size_t line_bytes = 64;

/// First lines of a part.
struct control_lines {
  /// Where the owner has mapped this part, so that others know its addresses; 0: it has not opened
  /// its engine yet. Stored last (release) when it has.
  alignas(line_bytes) std::atomic<std::uint64_t> base;
  /// Bit 0: the owner has waiters that only a message can wake. Bit 1: a rank that changes a word
  /// for them needs no fence before it looks here. See waiting.cpp.
  alignas(line_bytes) std::atomic<std::uint32_t> armed;
};
static_assert(offsetof(control_lines, armed) == heap_shape::armed_at);
static_assert(sizeof(control_lines) == 2 * line_bytes, "each word is alone on its line");
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "other processes use it, too");

/// What one rank tells the owner of the part. Written by that rank only.
struct pair_line {
  alignas(line_bytes) std::atomic<std::uint64_t> signals;  ///< how often signal() was called
  std::atomic<std::uint64_t> mails;                        ///< how often `mail` has been changed
  std::atomic<std::uint64_t> mail;
};
static_assert(sizeof(pair_line) == line_bytes, "one writer a line");

/// Where the line is on which `teller` tells something.
[[nodiscard]] inline std::uint64_t pair_offset(const heap_shape& shape, job_rank teller) noexcept {
  constexpr std::size_t line = sizeof(pair_line);
  SINEW_EXPECT(teller >= 0 && teller.index() < (shape.barrier_at - shape.pairs_at) / line);
  return shape.pairs_at + sizeof(pair_line) * teller.index();
}

/// One word alone on its line.
struct alignas(line_bytes) word_line {
  std::atomic<std::uint64_t> word;
};
static_assert(sizeof(word_line) == line_bytes);

/// A barrier of n members: three lines, then rounds(n) for each member. See barrier.cpp.
[[nodiscard]] inline std::size_t barrier_rounds(int members) noexcept {
  return members < 2 ? 0 : std::bit_width(static_cast<unsigned>(members - 1));
}
[[nodiscard]] inline std::size_t barrier_bytes(int members) noexcept {
  return sizeof(word_line) * (3 + static_cast<std::size_t>(members) * barrier_rounds(members));
}

}  // namespace sinew::rma
