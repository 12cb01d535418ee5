// SPDX-License-Identifier: BSD-3-Clause
// Copies of pages of other ranks' memory, for many gets of few bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::rma {

/// Pages of other ranks' memory, each found by its address.
struct copied_pages {
  static constexpr std::size_t page_bytes = 4096;  // what is readable is so by pages
  static constexpr std::size_t count = 32;
  struct page {
    std::uint64_t segment = 0;  ///< in which it was copied
    std::uint64_t ticks = 0;    ///< when
    std::uint64_t address = 0;
    job_rank rank = -1;
    std::array<std::byte, page_bytes> bytes;
  };
  std::array<page, count> pages;
  /// So that a program that watches a word, which it must not without image control, gets on.
  const std::uint64_t longest_life = ns_to_ticks(20'000);

  [[nodiscard]] page& of(job_rank rank, std::uint64_t address) noexcept {
    SINEW_EXPECT(rank >= 0 && address % page_bytes == 0);
    return pages[(address / page_bytes + rank.index() * 7) % count];
  }
};

}  // namespace sinew::rma
