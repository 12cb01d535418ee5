// SPDX-License-Identifier: BSD-3-Clause
// Files that other programs write or read: GraphML, ibnetdiscover's listings, tables as CSV.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/route/paths.hpp"
#include "sinew/route/plan.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// One graph of nodes and edges. Data that is read, by its key's attr.name: of an edge "capacity"
/// (in cables; 1 if not given); of a node "endpoint" (true if not given; false: a switch); of the
/// graph "shape" (a grid, "4x4mx8": default routes go dimension by dimension), "bandwidth",
/// "latency", "injection" (as link_speeds). Endpoints are numbered first, each kind in the file's
/// order; ids become labels. Throws sinew::error with line and reason. Cold, as all here.
[[nodiscard]] topology topology_from_graphml(std::string_view text, const std::string& where);
/// What topology_from_graphml reads, and each edge's load in bytes where `loads` (by link) are
/// given.
[[nodiscard]] std::string topology_to_graphml(const topology& net,
                                              std::span<const double> loads = {});

/// An InfiniBand fabric as ibnetdiscover prints it. Adapters (Ca) are endpoints, in the file's
/// order; several adapters of one host are several endpoints. Capacities count in the slowest
/// cable's rate, which becomes the links' bandwidth; the listing has no latencies (0). Labels are
/// the nodes' descriptions, with their GUIDs where two have the same. Throws as above.
[[nodiscard]] topology topology_from_ibnetdiscover(std::string_view text, const std::string& where);

/// Who sends how much to whom: either columns "source", "destination", "bytes" in any order, or a
/// square matrix of bytes, row sends to column, with or without names in its first row and column.
/// Names are labels of nodes, or numbers of ranks. Throws as above.
[[nodiscard]] job_list pattern_from_csv(const topology& net, std::string_view text,
                                        const std::string& where, std::uint32_t ranks_per_node = 1);
/// Columns source, destination, bytes.
[[nodiscard]] std::string jobs_to_csv(const topology& net, const job_list& jobs);
/// A matrix of all endpoints with their labels. Throws beyond 8192 endpoints.
[[nodiscard]] std::string traffic_matrix(const topology& net, const job_list& jobs);

/// Columns from, to, capacity, bytes: every link, also those that carry nothing.
[[nodiscard]] std::string loads_to_csv(const topology& net, std::span<const double> loads);
/// Columns from, to, bytes in any order, others ignored: counters of a machine, or the loads of
/// another planner. Links that are not named carry nothing; what is named twice is added. Throws as
/// above.
[[nodiscard]] std::vector<double> loads_from_csv(const topology& net, std::string_view text,
                                                 const std::string& where);

/// Of the bytes for `destination` that reach or begin at `node`, the part that goes on to `next`.
struct split_ratio {
  node_id destination = 0;
  node_id node = 0;
  node_id next = 0;
  double ratio = 0;
  double bytes = 0;
};
/// A plan for networks that forward by destination alone (ECMP with weights): ordered by
/// destination and node. Cycles that paths of several sources make together are cut, so no link
/// carries more than in the plan, and what follows the ratios arrives.
[[nodiscard]] std::vector<split_ratio> split_ratios(const topology& net, const route_plan& plan);
/// Columns destination, node, next, ratio, bytes.
[[nodiscard]] std::string splits_to_csv(const topology& net, const route_plan& plan);

}  // namespace sinew::route
