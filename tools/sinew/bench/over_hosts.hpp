// SPDX-License-Identifier: BSD-3-Clause
// What is different where an experiment runs over hosts: who takes part, how many ranks, the floor.
#pragma once

#include <memory>
#include <vector>

#include "sinew/bench/experiment.hpp"

namespace sinew::tool {

/// The same experiment with ucx_perftest as its floor, and the ratio to that with its interval.
[[nodiscard]] experiment over_hosts(const experiment& e);

/// Its starts on these hosts, of which there are those `here` on one machine: of a pair those of
/// two ranks; of all each once, with all the ranks that the hosts take. Those of a variant for
/// threads or progress stay apart.
[[nodiscard]] std::vector<start> starts_over(const experiment& e, const std::vector<start>& here,
                                             const std::shared_ptr<const placement>& on);

/// Of between_hosts::each: on 1, 2, 4 and so on of these hosts, and on all, a rank on each.
[[nodiscard]] std::vector<start> starts_on_each(const experiment& e, const request& asked,
                                                const placement& on);

/// Of between_hosts::torus: on all of these hosts, a rank on each. Throws usage_failure if the
/// shape that was asked for has another number of nodes.
[[nodiscard]] std::vector<start> starts_on_torus(const experiment& e, const request& asked,
                                                 const placement& on);

/// Without the ways that are of one machine: Open MPI over UCX is then one subject, "openmpi-ucx",
/// and libraries take no part.
[[nodiscard]] std::vector<subject> subjects_over(std::vector<subject> found);

}  // namespace sinew::tool
