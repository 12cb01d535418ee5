// SPDX-License-Identifier: BSD-3-Clause
// SINEW_MPI_CHECK=buffers: memory that a call under way reads must not be written, and memory that
// it writes must not be used at all, until its request is completed (MPI-5.0 section 3.7). Other
// calls of the rank are refused such memory at once; that the program itself has changed what is
// read is found when the request ends.
#pragma once

#include "abi/mpi/check/bytes_of_buffer.hpp"
#include "abi/mpi/watch.hpp"

namespace sinew::mpi::check {

/// What a call uses, from now on until it ends, or until its request does. Throws MPI_ERR_BUFFER if
/// another call has it. Any thread.
void reads(const watch::call& call, const bytes_of_buffer& what);
void writes(const watch::call& call, const bytes_of_buffer& what);
/// The call has run: requests that it has made keep their buffers, and those that have ended give
/// them back. Throws MPI_ERR_BUFFER for one whose data have been changed meanwhile.
void settle_buffers(const watch::call& call);

}  // namespace sinew::mpi::check
