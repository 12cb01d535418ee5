// SPDX-License-Identifier: BSD-3-Clause
// The model of a network: when a message comes that one rank sends to another. LogGP for the ends
// (Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA 1995), and between them the links of a
// topology, each of which carries one message after the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/route/default_route.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::sim {

/// Times in ns, rates in bytes a ns (that is, GB/s).
struct network_speeds {
  double send_overhead;     ///< the sender's own time for a message (LogGP's o)
  double receive_overhead;  ///< the receiver's
  double latency;           ///< of both ends' adapters together, without the links
  double hop_latency;       ///< of each link
  double link_rate;         ///< of one cable, in one direction
  double injection_rate;    ///< of a node (LogGP's 1/G)
  double gap;               ///< a node's least time between two messages (LogGP's g)
  double node_latency;      ///< between ranks of one node
  double node_rate;
};

/// Presets by name; see the table in network.cpp.
struct network_preset {
  const char* name;
  const char* about;
  network_speeds speeds;
};
[[nodiscard]] const std::vector<network_preset>& presets();

/// A topology's text (route::parse_topology), then what differs from the preset of the machine it
/// is taken for: "torus:8x8x8", "mira:1024", "fattree:2;4,4;1,2;1,2,speeds=edr,latency=900".
struct network_choice {
  std::string topology;
  network_speeds speeds;
};
/// Throws sinew::error. Cold.
[[nodiscard]] network_choice parse_network(std::string_view text);

class network {
 public:
  /// Ranks in blocks of `ranks_per_node` on consecutive nodes. Throws where they have no room.
  /// Cold.
  network(const network_choice& choice, int ranks, int ranks_per_node);
  network(const network&) = delete;
  network& operator=(const network&) = delete;

  /// When a message comes that `from` begins to send at `time`. Calls follow each other in time.
  [[nodiscard]] std::int64_t arrival(int from, int to, std::uint64_t bytes, std::int64_t time);
  /// No message to another rank takes less, in ns.
  [[nodiscard]] std::int64_t least_delay() const noexcept;
  [[nodiscard]] const network_speeds& speeds() const noexcept { return speeds_; }
  [[nodiscard]] const route::topology& topology() const noexcept { return topology_; }
  /// Bytes that each link has carried.
  [[nodiscard]] const std::vector<std::uint64_t>& carried() const noexcept { return carried_; }

 private:
  route::topology topology_;
  route::default_router router_;
  network_speeds speeds_;
  int ranks_per_node_;
  std::vector<double> link_free_;    ///< when each link has carried all so far
  std::vector<double> sender_free_;  ///< the same of what each node sends
  std::vector<std::uint64_t> carried_;
  std::vector<route::link_id> path_;
};

}  // namespace sinew::sim
