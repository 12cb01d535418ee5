// SPDX-License-Identifier: BSD-3-Clause
// Which processors each rank may use.
#pragma once

#include <string>
#include <vector>

#include "sinew/run/run_options.hpp"

namespace sinew::tool {

struct binding_plan {
  std::vector<std::vector<int>> cpus;  ///< per rank; empty: not bound
  std::string remark;                  ///< for the user, if the wish could not be granted
};

/// Reads the machine only if a binding is asked for.
[[nodiscard]] binding_plan plan_binding(binding_policy policy, int ranks);

}  // namespace sinew::tool
