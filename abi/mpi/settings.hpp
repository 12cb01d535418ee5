// SPDX-License-Identifier: BSD-3-Clause
// The settings of libmpi_abi, also for the table of `sinew info config`.
#pragma once

#include "sinew/base/settings.hpp"

namespace sinew::mpi::check {

inline setting<bool> check_setting("mpi", "check", false, "",
                                   "the ranks compare what they call before each collective, and "
                                   "a difference is an error that names a rank");

}  // namespace sinew::mpi::check

namespace sinew::mpi {

inline setting<std::int64_t> connect_timeout_setting(
    "mpi", "connect_timeout", 60, "s",
    "how long MPI_Comm_connect waits for an MPI_Comm_accept at the port (0: for ever); the info "
    "key "
    "\"timeout\" says it for one call",
    {.least = 0, .most = 1'000'000}, setting_use::each_use);
inline setting<std::string> names_setting(
    "mpi", "names", "", "",
    "the folder by which MPI_Publish_name reaches other jobs, on other nodes too if it is shared "
    "(user: one of this user's on this node; where it is not set names are the job's own)");

}  // namespace sinew::mpi
