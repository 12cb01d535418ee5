// SPDX-License-Identifier: BSD-3-Clause
// What carrying out a plan would take: chunk by chunk, or as fluid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sinew/route/machine.hpp"
#include "sinew/route/plan.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// Which of a node's chunks goes first when both wait for the same link.
enum class queue_rule : std::uint8_t { round_robin, forward_first };

struct simulation_options {
  machine costs;
  queue_rule rule = queue_rule::forward_first;
  /// Chunks that a node can hold for others, for each number of hops behind them. Classes by hops
  /// cannot wait for each other in a circle: a chunk waits only for room one class further, and the
  /// last is always taken out.
  std::uint32_t buffers = 64;
  /// Store and forward at every node on the way, as a runtime without cut-through does it; else
  /// only where the path leaves the default route.
  bool every_hop = false;
  double tolerance = 0.005;  ///< of simulate_flows: flows that end within this part end together
};

struct simulation {
  double seconds = 0;  ///< until the last byte arrived
  double bytes = 0;    ///< delivered between different nodes
  std::uint64_t chunk_hops =
      0;  ///< events of simulate_chunks: a chunk crossed a link (or a segment)
  std::uint32_t most_held = 0;  ///< chunks that one node held for others at once
  double host_seconds = 0;      ///< what simulating took
  /// Bytes per second over all jobs.
  [[nodiscard]] double throughput() const noexcept { return seconds > 0 ? bytes / seconds : 0; }
};

/// Events of single chunks. A chunk takes its start-up at the source (one after the other),
/// crosses links one by one at their bandwidth and waits where another is on the link; within a
/// segment that the network itself routes it cuts through: its head waits for a link, its body
/// holds each for chunk/bandwidth. Where it is forwarded it is stored, copied (one copy engine per
/// node) and queued again. Deterministic. Cold.
[[nodiscard]] simulation simulate_chunks(const topology& net, const route_plan& plan,
                                         const simulation_options& options = {});

/// Fluid: every path gets its max-min fair share of links, injection and copying, recomputed
/// whenever paths finish. Latencies are added at the end. Fast; knows no queues.
[[nodiscard]] simulation simulate_flows(const topology& net, const route_plan& plan,
                                        const simulation_options& options = {});

/// Whether simulate_flows() of each takes some tenths of a second at most: their paths have up to
/// 100,000 links in all. Plans that are to be compared are all simulated, or none.
[[nodiscard]] bool are_quickly_simulated(std::span<const route_plan* const> plans);
/// Seconds that a plan takes: as fluid, or as predict() has them. Cold.
[[nodiscard]] double expected_seconds(const topology& net, const route_plan& plan,
                                      const machine& costs, bool simulated);

}  // namespace sinew::route
