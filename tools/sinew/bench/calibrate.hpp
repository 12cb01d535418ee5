// SPDX-License-Identifier: BSD-3-Clause
// sinew simulate --calibrate: what a simulated network is told of the hosts that one has.
#pragma once

#include <string>

#include "sinew/run/run_options.hpp"
#include "sinew/sim/network.hpp"

namespace sinew::tool {

/// Of two ranks, as `sinew bench` measures it.
struct pair_figures {
  double trip_ns = 0;     ///< one way of 8 bytes
  double send_ns = 0;     ///< a rank's own time to send them
  double receive_ns = 0;  ///< to take them
  double each_ns = 0;     ///< of 8 bytes, in a stream of them
  double rate = 0;        ///< of long messages: GB/s
};

/// Speeds with which a simulated pair shows the same figures. Memory's rate is `usual`'s: one pair
/// does not show it. Pure.
[[nodiscard]] sim::network_speeds speeds_of(const pair_figures& between_nodes,
                                            const pair_figures& on_a_node,
                                            const sim::network_speeds& usual);

/// Measures the first two of the hosts, and two ranks of the first; without hosts two ranks of this
/// machine that pretend to be on two nodes, and two that do not. Writes options.calibrate, which
/// --network's `speeds=` reads. Returns the exit code. Suspends for seconds. Throws sinew::error.
[[nodiscard]] int calibrate(const run_options& options);

}  // namespace sinew::tool
