// SPDX-License-Identifier: BSD-3-Clause
// SINEW_MPI_CHECK: what is looked at before a call that is no collective.
#pragma once

#include "abi/mpi/check/check.hpp"
#include "abi/mpi/check/overlap.hpp"

namespace sinew::mpi::check {

inline void Sendrecv(const watch::call&, const void* send, MPI_Count sends, MPI_Datatype send_type,
                     int dest, int, void* recv, MPI_Count receives, MPI_Datatype receive_type,
                     int source, int, MPI_Comm, MPI_Status*) {
  if (wanted(what::buffers) && dest != MPI_PROC_NULL && source != MPI_PROC_NULL) {
    forbid_overlap({send, sends, send_type}, {recv, receives, receive_type});
  }
}
inline void Reduce_local(const watch::call&, const void* in, void* inout, MPI_Count count,
                         MPI_Datatype type, MPI_Op) {
  if (wanted(what::buffers) && in != MPI_IN_PLACE && inout != MPI_IN_PLACE) {
    forbid_overlap({in, count, type}, {inout, count, type});
  }
}

}  // namespace sinew::mpi::check
