// SPDX-License-Identifier: BSD-3-Clause
// A grid seen through some of its dimensions only: nodes that differ in the others become one.
// Contracting can only make a problem easier, so what is impossible there is impossible here: the
// coarse problem gives bounds, and its paths are the long detours that the fine problem needs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// One step along a dimension of a grid.
struct grid_step {
  std::uint8_t dimension;
  bool up;
};

/// Ways through the kept dimensions for each job, flat.
struct skeleton_set {
  std::vector<bool> kept;             ///< by dimension
  std::vector<std::uint32_t> of_job;  ///< fine job -> row of `first`, or `nothing`
  std::vector<std::uint32_t> first;   ///< row -> its ways
  std::vector<std::uint32_t> begin;   ///< way -> its steps
  std::vector<grid_step> steps;

  [[nodiscard]] std::uint32_t count(std::size_t job) const noexcept {
    SINEW_EXPECT(job < of_job.size());
    const std::uint32_t row = of_job[job];
    return row == nothing ? 0 : first[row + 1] - first[row];
  }
  [[nodiscard]] std::span<const grid_step> way(std::size_t job, std::uint32_t i) const noexcept {
    SINEW_EXPECT(i < count(job));
    const std::uint32_t w = first[of_job[job]] + i;
    return {steps.data() + begin[w], begin[w + 1] - begin[w]};
  }
};

/// A lower bound of the busiest link and where it comes from. Skeletons are there if the grid was
/// contracted.
struct coarse_result {
  double bound = 0;
  std::vector<bool> kept;  ///< the dimensions of the bound; the skeletons may have one more
  int passes = 0;          ///< what it took
  std::unique_ptr<skeleton_set> skeletons;
  [[nodiscard]] std::string reason() const;
};

/// Tries sets of dimensions, small ones first, and grows the best. Jobs have distinct ends.
coarse_result solve_coarse(const topology& net, const job_list& jobs);

}  // namespace sinew::route
