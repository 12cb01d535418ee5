// SPDX-License-Identifier: BSD-3-Clause
// SINEW_MPI_CHECK=windows: accesses of several ranks to one place of a window that nothing orders,
// of which one changes it (MPI-5.0 section 12.7). Each rank keeps account of its accesses; at each
// collective call of all ranks of the window rank 0 compares what has been done since the last one.
//
// What is told is wrong for certain: accesses in epochs that exclude each other are not compared,
// nor those of a rank that may have heard of the other since (by a message, another window, or what
// it has read there); and those between MPI_Win_start and MPI_Win_complete only within a rank.
// Loads and stores of the program are not seen.
#pragma once

#include "abi/mpi/comm.hpp"
#include "abi/mpi/watch.hpp"

namespace sinew::mpi::check {

enum class access : char { get = 'g', put = 'p', accumulate = 'a' };

/// An access is about to be made. `op`: of accumulates. Its arguments may be wrong.
void note_access(const watch::call& call, access how, int target, MPI_Aint displacement,
                 MPI_Count count, MPI_Datatype type, MPI_Op op = MPI_OP_NULL);
/// A blocking collective call of all ranks of `c` begins. Suspends. Throws MPI_ERR_RMA_CONFLICT at
/// rank 0.
void compare_accesses(const watch::call& call, const comm_object& c);
/// The same of a call of a window, which all its ranks call.
void compare_accesses(const watch::call& call);
/// A call has run: what it means for the order of accesses.
void follow_order(const watch::call& call);

}  // namespace sinew::mpi::check
