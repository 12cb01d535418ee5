// SPDX-License-Identifier: BSD-3-Clause
// Translations of a torus that leave a pattern as it is: one job is planned for its whole orbit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contraction.hpp"
#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

struct symmetry {
  std::vector<std::uint32_t> period;  ///< by dimension: shifts by multiples of it change nothing
  job_list jobs;                   ///< one of each orbit: those from the corner that periods span
  std::vector<link_id> orbit;      ///< link -> the one of its orbit that starts in that corner
  std::vector<std::uint32_t> row;  ///< job of the whole list -> row of `jobs`
};

/// Nothing if only the identity leaves the pattern as it is, or the torus is not the same
/// everywhere. Jobs have distinct pairs of ends.
std::optional<symmetry> find_symmetry(const topology& net, const job_list& jobs);

/// The step that a link of a grid takes.
grid_step step_of(const topology& net, link_id l);

}  // namespace sinew::route
