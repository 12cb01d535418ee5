// SPDX-License-Identifier: BSD-3-Clause
// The default planner.
#pragma once

#include "baselines.hpp"
#include "bounds.hpp"

namespace sinew::route {

/// What `most_paths` means for our own plans.
inline std::uint32_t most_paths_of(const plan_options& o) noexcept {
  return o.most_paths > 0 ? o.most_paths : 12;
}

/// Jobs have distinct ends and positive bytes. Raises `bound` by what it proves on the way.
split plan_balanced(const topology& net, const job_list& jobs, const plan_options& options,
                    proof& bound);

}  // namespace sinew::route
