// SPDX-License-Identifier: BSD-3-Clause
// sinew explore: a simulated job again and again, each time with another seed.
#pragma once

#include <string_view>
#include <vector>

#include "sinew/run/run_options.hpp"

namespace sinew::tool {

/// Runs `one_run` in processes of their own, with the seeds 1 to options.runs, as many at a time as
/// there are processors, until one ends otherwise than the run that varies nothing. What that one
/// printed, and the command that repeats it, are printed. 0: all ended alike; 1: one did not; 130:
/// interrupted. `words` are those behind the command. Cold.
[[nodiscard]] int explore(const run_options& options, const std::vector<std::string_view>& words,
                          int (*one_run)(run_options options,
                                         const std::vector<std::string_view>& words));

}  // namespace sinew::tool
