// SPDX-License-Identifier: BSD-3-Clause
// The one path that a network's own routing takes from node to node.
#pragma once

#include <cstdint>
#include <vector>

#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// In which order a grid's dimensions are walked.
enum class dimension_order : std::uint8_t {
  longest_first,  ///< Blue Gene/Q's default; ties as its reconstruction has them
  ascending,      ///< A B C D E
  descending,     ///< E D C B A
  shuffled,       ///< another order for each pair, drawn from the seed
};

/// Grids: dimension by dimension, in each the shorter way; exactly half way round, from an even
/// coordinate without the wraparound and from an odd one through it. This rule reproduces the
/// original's tables of paths per link and hops. Other graphs: a shortest path; of several next
/// hops the one numbered destination modulo their number (in a fat tree this is D-mod-k).
/// Not for several threads at once. Cold to warm: a grid's path costs its hops, another graph's a
/// breadth-first search for each new destination.
class default_router {
 public:
  explicit default_router(const topology& net,
                          dimension_order order = dimension_order::longest_first,
                          std::uint64_t seed = 1);

  /// Appends the links from a to b. False, and nothing appended, when the way does not exist (a
  /// disconnected graph) or crosses a failed link.
  bool append(node_id a, node_id b, std::vector<link_id>& out);

  /// Hops from every node to b over working links; `nothing` where there is no way. Valid until the
  /// next call of any kind.
  const std::vector<std::uint32_t>& hops_to(node_id b) {
    if (measured_ != b) {
      measure_to(b);
    }
    return hops_to_;
  }

  [[nodiscard]] const std::vector<std::size_t>& dimensions() const noexcept { return order_; }

 private:
  bool append_grid(node_id a, node_id b, std::vector<link_id>& out);
  bool append_graph(node_id a, node_id b, std::vector<link_id>& out);
  void measure_to(node_id b);

  const topology& net_;
  dimension_order how_;
  std::uint64_t seed_;
  std::vector<std::size_t> order_;
  std::vector<std::uint32_t> hops_to_;  // of measured_
  std::vector<node_id> queue_;
  node_id measured_ = nothing;
};

/// The default path of every job. Throws sinew::error that names the first job without one.
[[nodiscard]] path_set default_paths(const topology& net, const job_list& jobs,
                                     dimension_order order = dimension_order::longest_first,
                                     std::uint64_t seed = 1);

}  // namespace sinew::route
