// The table of experiments that measure many things of one case: a line per case, a column for each
// thing, and beside it the published figure where there is one.
#pragma once

#include <string>

#include "bench_stats.hpp"

namespace sinew::tool {

/// Of `routing` and `carry`; empty if nothing was measured. Units stand in the head. Cold.
[[nodiscard]] std::string wide_table(const stats::result_set& results,
                                     const std::string& experiment);

}  // namespace sinew::tool
