// SPDX-License-Identifier: BSD-3-Clause
// The floor over hosts: UCX's own ucx_perftest between two of them, over the network that ours
// uses.
#pragma once

#include <string>

#include "sinew/bench/experiment.hpp"

namespace sinew::tool {

/// The command that measures the experiment's floor between the first two hosts; it prints samples
/// as measuring programs do. Nothing to do for an experiment without one: no words.
[[nodiscard]] command host_floor(const experiment& e, const request& asked, const placement& on);

/// That command: `sinew bench --host-floor KEY=VALUE...`. Suspends for seconds. Returns an exit
/// code.
int host_floor_main(int argc, char** argv);

}  // namespace sinew::tool
