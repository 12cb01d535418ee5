// SPDX-License-Identifier: BSD-3-Clause
// Links of a network that carry nothing, or little, for a while: which way messages go meanwhile,
// and which nodes are lost.
//
// What a network with reliable connections does (InfiniBand with its subnet manager, TCP over
// switches): what is lost with a link is sent again. Once another way is known it goes there; if
// there is none it waits until a link is back. A node that is cut off from the first one, where the
// launcher is, for longer than cut_off_ns is lost, and so are its ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sinew/route/default_route.hpp"
#include "sinew/route/topology.hpp"
#include "sinew/sim/faults.hpp"

namespace sinew::sim {

class link_faults {
 public:
  /// Until other ways are known, from when a link fails.
  static constexpr std::int64_t detour_ns = 100'000;
  static constexpr std::int64_t never = INT64_MAX;

  /// Takes those of `all` that are of links; `link_rate`: of one cable, in bytes a ns. `net`
  /// outlives this. Throws sinew::error for a link that the network has not. Cold.
  link_faults(const route::topology& net, double link_rate, const std::vector<fault>& all);

  [[nodiscard]] bool any() const noexcept { return !cuts_.empty() || !slow_.empty(); }

  /// When a message goes that is to be sent at `time`: then, or once there is a way for it, or once
  /// a slow link has carried what goes before it; never. Among messages from one node to another
  /// none goes before an earlier one. Calls follow each other in time. Warm.
  [[nodiscard]] std::int64_t departure(route::node_id from, route::node_id to, std::uint64_t bytes,
                                       std::int64_t time);
  /// Appends the way at that time. False: there is none. Warm.
  bool append(route::node_id from, route::node_id to, std::int64_t time,
              std::vector<route::link_id>& out);

  struct lost_node {
    route::node_id node;
    std::int64_t time;
  };
  /// Endpoints that are cut off for too long, and when they are lost. Cold.
  [[nodiscard]] std::vector<lost_node> lost();

 private:
  /// From `begin` until the next one the same links are cut.
  struct epoch {
    std::int64_t begin;
    std::vector<bool> is_cut;                   ///< by link; empty: none is
    std::optional<route::topology> left;        ///< without them
    std::optional<route::default_router> ways;  ///< on that
  };
  enum class way : std::uint8_t { usual, detour, none, never_was };
  struct link_fault {
    route::link_id links[2];  ///< one for each direction
    fault what;
  };

  [[nodiscard]] epoch make_epoch(std::int64_t begin) const;
  [[nodiscard]] epoch& at(std::int64_t time);
  [[nodiscard]] std::int64_t next_epoch(std::int64_t time) const;
  [[nodiscard]] std::int64_t failed_since(route::node_id from, route::node_id to,
                                          std::int64_t time);
  [[nodiscard]] way find(route::node_id from, route::node_id to, std::int64_t time,
                         std::vector<route::link_id>& out);
  [[nodiscard]] std::int64_t first_way(route::node_id from, route::node_id to, std::int64_t time);
  [[nodiscard]] std::int64_t behind_others(std::int64_t time, std::uint64_t bytes);

  const route::topology& net_;
  double link_rate_;
  route::default_router usual_;
  std::vector<link_fault> cuts_, slow_;
  std::vector<epoch> epochs_;  ///< by time; the first begins at 0
  std::vector<route::link_id> way_;
  std::unordered_map<std::uint64_t, std::int64_t> last_;        ///< departures, by from and to
  std::unordered_map<route::link_id, std::int64_t> free_from_;  ///< of slow links
};

}  // namespace sinew::sim
