// SPDX-License-Identifier: BSD-3-Clause
// Jobs as planners want them.
#pragma once

#include <cstdint>
#include <vector>

#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// One job for each pair of ends, in the order in which pairs first appear. Throws sinew::error: an
/// end that is no endpoint, columns of unequal length, sums beyond 2^53 bytes.
job_list merged_jobs(const topology& net, const job_list& jobs);

/// Those with distinct ends and something to send.
job_list jobs_that_move(const job_list& jobs);

/// Jobs of one destination together, so that hops to it are counted once.
std::vector<std::uint32_t> by_destination(const job_list& jobs);

}  // namespace sinew::route
