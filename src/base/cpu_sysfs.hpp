// SPDX-License-Identifier: BSD-3-Clause
// Cores as the kernel's own files tell them. hwloc knows more and takes milliseconds, which a
// launcher cannot spare on each start.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/topology.hpp"

namespace sinew::topology {

/// More than any machine has.
inline constexpr int most_cpus = 8192;

/// "0-2,5" -> 0 1 2 5. What cannot be read ends the list; numbers below most_cpus.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view text);

/// The usable processors grouped into cores, in the order package, NUMA node, first processor.
/// `system` is "/sys" outside tests. A file that is missing makes each processor a core.
[[nodiscard]] std::vector<core> read_cores(const std::string& system,
                                           const std::vector<int>& usable);

}  // namespace sinew::topology
