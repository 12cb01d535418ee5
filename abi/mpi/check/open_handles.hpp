// SPDX-License-Identifier: BSD-3-Clause
// SINEW_MPI_CHECK: what the program has made, and not freed or completed yet.
#pragma once

#include <functional>
#include <string>

#include "abi/mpi/watch.hpp"

namespace sinew::mpi::check {

/// What has been made and has ended in a call. Any thread.
void count_handles(const watch::call& call);
/// Tells each that is there still: "a communicator has not been freed: MPI_Comm_dup, in main
/// (a.c:12)".
void tell_open_handles(const std::function<void(const std::string& line)>& tell);

}  // namespace sinew::mpi::check
