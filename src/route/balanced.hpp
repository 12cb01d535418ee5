// The default planner.
#pragma once

#include "baselines.hpp"
#include "bounds.hpp"

namespace sinew::route {

/// Jobs have distinct ends and positive bytes. Raises `bound` by what it proves on the way.
split plan_balanced(const topology& net, const job_list& jobs, const plan_options& options,
                    proof& bound);

}  // namespace sinew::route
