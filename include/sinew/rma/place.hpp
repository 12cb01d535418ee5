// SPDX-License-Identifier: BSD-3-Clause
// Where a byte lies: in which rank's heap, or elsewhere in a rank's memory.
#pragma once

#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::rma {

/// A byte of a rank's heap. The same `offset` names the same symmetric object on every rank.
/// Offset 0 is never allocated: it stands for nothing.
struct place {
  job_rank rank = 0;
  std::uint64_t offset = 0;

  friend bool operator==(const place&, const place&) = default;
};

/// A byte of a rank's memory that need not be in its heap, by its address there. Not made from
/// braces, which mean a place.
struct outside {
  outside() = default;
  [[nodiscard]] static outside of(job_rank rank, std::uint64_t address) noexcept {
    SINEW_EXPECT(rank >= 0);
    outside o;
    o.rank = rank;
    o.address = address;
    return o;
  }

  job_rank rank = 0;
  std::uint64_t address = 0;
};

inline constexpr unsigned offset_bits = 44;  ///< a heap has less than 16 TiB
inline constexpr std::int32_t most_ranks = (1 << 20) - 2;

/// One word that means the same on every rank; 0 only for what pack() was never given.
[[nodiscard]] constexpr std::uint64_t pack(place p) noexcept {
  SINEW_EXPECT(p.rank.below(most_ranks + 1) && p.offset < std::uint64_t{1} << offset_bits);
  return ((p.rank.index() + 1) << offset_bits) | p.offset;
}
[[nodiscard]] constexpr place unpack(std::uint64_t word) noexcept {
  return {job_rank{static_cast<std::int32_t>(word >> offset_bits) - 1},
          word & ((std::uint64_t{1} << offset_bits) - 1)};
}

static_assert(unpack(pack({most_ranks, 4096})) == place{most_ranks, 4096});
static_assert(pack({0, 0}) != 0, "0 stands for no place at all");

}  // namespace sinew::rma
