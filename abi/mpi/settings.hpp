// SPDX-License-Identifier: BSD-3-Clause
// The settings of libmpi_abi, also for the table of `sinew info config`.
#pragma once

#include "sinew/base/settings.hpp"

namespace sinew::mpi::check {

inline setting<std::string> check_setting(
    "mpi", "check", "0", "",
    "the ranks look for wrong calls, and an error names the ranks and the lines: all checks (1), "
    "or "
    "those of a list. collectives: ranks of a collective call another one, or with other "
    "arguments; "
    "kinds: a message's datatype is not that of its receive; buffers: memory of a call is used "
    "while another one needs it; windows: accesses that have no order; leaks: at MPI_Finalize, "
    "what "
    "has not been freed, awaited or received",
    {"0|1|no|yes|collectives|kinds|buffers|windows|leaks", true});
inline setting<bool> check_fails_setting(
    "mpi", "check_fails", false, "",
    "what SINEW_MPI_CHECK finds at MPI_Finalize makes the exit code 1, too");
inline setting<std::string> report_setting(
    "mpi", "check_report", "", "",
    "the file to which each finding of SINEW_MPI_CHECK is added, a line of JSON each");

}  // namespace sinew::mpi::check

namespace sinew::mpi::profile {

inline setting<std::string> profile_setting(
    "mpi", "profile", "", "",
    "the file to which MPI_Finalize writes how long the ranks have been in MPI, by the lines that "
    "call it, and what they have sent to whom; sinew profile shows it");
inline setting<std::int64_t> profile_sites_setting(
    "mpi", "profile_sites", 1000, "",
    "how many places that call MPI the profile keeps apart; what comes later is one row of others",
    {.least = 1, .most = 1'000'000});

}  // namespace sinew::mpi::profile

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
