// SPDX-License-Identifier: BSD-3-Clause
// What `sinew route plan` and `show` write for other programs.
#pragma once

#include <string>

#include "sinew/route/plan.hpp"

namespace sinew::tool {

/// Names of files; empty: not asked for.
struct route_files {
  std::string loads, jobs, matrix, splits, graphml;
};

/// Throws sinew::error if a file cannot be written.
void write_files(const route_files& asked, const route::topology& net,
                 const route::route_plan& plan);

}  // namespace sinew::tool
