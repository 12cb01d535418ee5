// SPDX-License-Identifier: BSD-3-Clause
// The file of a profile: what each rank has counted, as JSON (docs/reference/README.md).
#pragma once

#include <string>

#include "abi/mpi/profile/clocks.hpp"
#include "abi/mpi/profile/wait_states.hpp"

namespace sinew::mpi::profile {

/// What SINEW_MPI_PROFILE names, seen from the folder in which the rank is at the first call; the
/// ranks that a program spawns have files of their own beside it.
[[nodiscard]] std::string file_to_write();
/// This rank writes it.
[[nodiscard]] bool is_first() noexcept;

/// Of one rank, from the end of MPI_Init to MPI_Finalize.
struct run_of_rank {
  anchors times;
  clock_pair clock;
};
/// Rank 0 of MPI_COMM_WORLD writes what all have. All its ranks; suspends. Cold.
void write_report(const run_of_rank& own);

}  // namespace sinew::mpi::profile
