// SPDX-License-Identifier: BSD-3-Clause
// Those options of `sinew run` that are of jobs in virtual time.
#pragma once

#include <vector>

#include "sinew/options.hpp"
#include "sinew/run/run_options.hpp"

namespace sinew::tool {

/// They write to `options`, which outlives them. Cold.
[[nodiscard]] std::vector<option> simulation_options(run_options& options);
/// Throws usage_failure if one is there without --simulate, or does not go with another one. Cold.
void check_simulation(const run_options& options);

}  // namespace sinew::tool
