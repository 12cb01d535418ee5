// SPDX-License-Identifier: BSD-3-Clause
// How two groups meet: one rank of each, its leader, knows how to reach the other's.
#pragma once

#include "abi/mpi/comm.hpp"
#include "sinew/dynamic/connections.hpp"

namespace sinew::mpi {

/// All ranks of the job, for what has no communicator of the program's.
[[nodiscard]] inline coll::participant job_participant() noexcept {
  return {*process.engine, *process.job};
}

/// See dynamic::connected_by.
template <class FindLink>
[[nodiscard]] coll::intercommunicator_ref connected_by(coll::participant local, comm_rank leader,
                                                       const FindLink& find_link) {
  return dynamic::connected_by(local, leader, find_link, *process.job);
}

/// Before anything else: makes process.parent in a rank that was spawned. Collective over the ranks
/// that were spawned together.
void find_parent();

/// Throws MPI_ERR_RANK.
void check_leader(int leader, int size, const char* which);

}  // namespace sinew::mpi
