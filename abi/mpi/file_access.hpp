// SPDX-License-Identifier: BSD-3-Clause
// What all calls that read or write have in common; the calls themselves are generated
// (generated/file_accesses.cpp).
#pragma once

#include "abi/mpi/file.hpp"

namespace sinew::mpi {

/// What the name of a call says. Nonblocking collective ones need nothing of other ranks: each rank
/// does its part alone.
struct file_call {
  io::direction way;
  io::begin_at where;
  io::form how;
};

/// A call's buffer: read into or written from.
struct users_buffer {
  const void* base;
  MPI_Count count;
  MPI_Datatype type;
};

// `offset`: of the call, 0 if it has none.
[[nodiscard]] int access_file(MPI_File fh, const file_call& call, MPI_Offset offset,
                              const users_buffer& b, MPI_Status* status);
/// An error of the system is returned when the request is completed.
[[nodiscard]] int access_file(MPI_File fh, const file_call& call, MPI_Offset offset,
                              const users_buffer& b, MPI_Request* request);
/// `end` names the call that completes it.
[[nodiscard]] int begin_access(MPI_File fh, const file_call& call, MPI_Offset offset,
                               const users_buffer& b, const char* end);
[[nodiscard]] int end_access(MPI_File fh, const void* buf, const char* end, MPI_Status* status);

}  // namespace sinew::mpi
