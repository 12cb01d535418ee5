// SPDX-License-Identifier: BSD-3-Clause
// What moving bytes costs: the few numbers by which plans are compared and simulated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sinew::route {

class topology;

/// Bandwidths in bytes per second, times in seconds. A path that the network's own routing takes is
/// one message; any other is forwarded: received and sent on, chunk by chunk, at each node where it
/// leaves the default route. The standard values are Blue Gene/Q's.
struct machine {
  double link_bandwidth = 1.8e9;      ///< per cable and direction
  double injection_bandwidth = 16e9;  ///< of one node into its links, and out of them
  double copy_bandwidth = 14e9;       ///< of one node receiving and sending on
  double start_up = 4e-6;             ///< of a message
  double hop_latency = 45e-9;
  double forward_latency = 2e-6;  ///< per chunk and forwarding node
  std::uint64_t chunk = 64 << 10;
};

/// `costs` with the speeds that the network's file gives, if it gives any (topology::speeds).
[[nodiscard]] machine machine_of(const topology& net, machine costs = {});

/// Throws sinew::error unless bandwidths are above 0, no time is below, and chunks have bytes.
/// Cold.
void check_machine(const machine& costs);

/// Bytes per second: "1.8e9", or as SimGrid's platforms have it: "125MBps", "10Gbps", "1GiBps".
/// Nothing unless it is above 0. Cold.
[[nodiscard]] std::optional<double> parse_bandwidth(std::string_view text);
/// Seconds: "4e-6", "50us", "1ms", "45ns", "2s". Nothing if it is below 0. Cold.
[[nodiscard]] std::optional<double> parse_latency(std::string_view text);

}  // namespace sinew::route
