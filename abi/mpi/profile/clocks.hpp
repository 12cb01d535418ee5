// SPDX-License-Identifier: BSD-3-Clause
// How times of ranks on several hosts are compared: by the clock of rank 0's host. The ranks of a
// host share a clock.
#pragma once

#include <array>
#include <cstdint>

namespace sinew::mpi::profile {

/// A host's clock, looked at by its first rank.
struct clock_look {
  std::int64_t at_ns = 0;      ///< by this clock
  std::int64_t behind_ns = 0;  ///< rank 0's clock shows so much more
  std::int64_t error_ns = 0;   ///< at most so much is wrong with that
};

/// When a profile begins and when it ends; in between the clocks go on evenly.
struct clock_pair {
  std::array<clock_look, 2> looks;

  [[nodiscard]] std::int64_t by_first(std::int64_t at_ns) const noexcept;
  [[nodiscard]] std::int64_t error_ns() const noexcept;
};

/// This host's clock against rank 0's; zeros on all ranks but the first of each host, and on the
/// host of rank 0. Ranks of MPI_COMM_WORLD all call it; suspends. Cold.
[[nodiscard]] clock_look look_at_clock();

}  // namespace sinew::mpi::profile
