// SPDX-License-Identifier: BSD-3-Clause
// The model of a network: when a message comes that one rank sends to another. LogGP for the ends
// (Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA 1995), and between them the links of a
// topology. Short messages take a link one after the other. Longer ones are fluid: what one rank
// sends to another is a flow, and flows share links, adapters and the memories of nodes max-min
// fairly (route/fair_shares.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sinew/route/default_route.hpp"
#include "sinew/route/fair_shares.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::sim {

class link_faults;

/// Times in ns, rates in bytes a ns (that is, GB/s).
struct network_speeds {
  double send_overhead;     ///< the sender's own time for a message (LogGP's o)
  double receive_overhead;  ///< the receiver's
  double latency;           ///< of both ends' adapters together, without the links
  double hop_latency;       ///< of each link
  double link_rate;         ///< of one cable, in one direction
  double injection_rate;    ///< of a node (LogGP's 1/G), and what it takes in
  double gap;               ///< a node's least time between two messages (LogGP's g)
  /// Between ranks of one node: a quarter of it is the sender's own time, a quarter the receiver's.
  double node_latency;
  double node_rate;
  double memory_rate;  ///< of all ranks of one node together
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
  route::topology topology;
  network_speeds speeds;
};
/// "speeds=" takes a preset's name, or a file with one of the other words a line. Without a
/// topology `nodes` are at one switch. Throws sinew::error. Cold.
[[nodiscard]] network_choice parse_network(std::string_view text, int nodes = 1);
/// All of them as such a file has them.
[[nodiscard]] std::string to_text(const network_speeds& speeds);

/// What one rank sends to another.
struct transfer {
  int from;
  int to;
  std::uint64_t bytes;
  std::uint64_t number;  ///< the caller's; see network::left
};

/// The clock is the caller's: it names times, none of which is before an earlier one.
class network {
 public:
  /// Messages that are not longer are short: a packet of Blue Gene/Q's network.
  static constexpr std::uint64_t longest_short = 512;
  /// With up to so many flows all rates are fair at each moment. With more, what comes and goes
  /// within the least delay of the network is felt together.
  static constexpr std::size_t most_exact_flows = 64;

  /// Ranks in blocks of `ranks_per_node` on consecutive nodes. Throws where they have no room.
  /// Cold.
  network(network_choice choice, int ranks, int ranks_per_node);
  network(const network&) = delete;
  network& operator=(const network&) = delete;

  /// A rank begins to send at `time`. When the message comes; nothing if that depends on what else
  /// is sent meanwhile: then advance() tells. Throws where there is no way. Warm.
  [[nodiscard]] std::optional<std::int64_t> send(const transfer& what, std::int64_t time);
  /// A message whose last byte has left, so that nothing delays it any more.
  struct left {
    std::uint64_t number;
    std::int64_t arrival;
  };
  /// Those that have left until `time`, at which it is now. The last of them may come least_delay()
  /// later, but none sooner; so what comes before that is known.
  void advance(std::int64_t time, std::vector<left>& out);
  /// When advance() will have something to do, or the largest number: never.
  [[nodiscard]] std::int64_t next_change();

  /// From now on `ways` says which links messages take; it outlives this.
  void take_ways_of(link_faults& ways) noexcept { ways_ = &ways; }
  [[nodiscard]] route::node_id node_of(int rank) const noexcept {
    return static_cast<route::node_id>(rank / ranks_per_node_);
  }
  /// No message to another rank takes less, in ns.
  [[nodiscard]] std::int64_t least_delay() const noexcept;
  [[nodiscard]] int ranks_per_node() const noexcept { return ranks_per_node_; }
  [[nodiscard]] const network_speeds& speeds() const noexcept { return speeds_; }
  [[nodiscard]] const route::topology& topology() const noexcept { return topology_; }
  /// Bytes that each link has carried.
  [[nodiscard]] const std::vector<std::uint64_t>& carried() const noexcept { return carried_; }

 private:
  using flow_id = route::fair_shares::flow_id;
  /// What one rank sends to another, message after message, while there is something left of it.
  struct flow {
    std::uint64_t pair = 0;
    std::vector<route::link_id> way;
    std::deque<transfer> messages;
    double left = 0;             ///< bytes of the first of these
    double since = 0;            ///< when that was so
    double rate = 0;             ///< since then
    double latency = 0;          ///< from leaving to coming
    std::uint32_t versions = 0;  ///< of what is expected of its end
  };
  struct end {
    double time;
    flow_id flow;
    std::uint32_t version;
    bool operator>(const end& other) const noexcept {
      return time != other.time ? time > other.time : flow > other.flow;
    }
  };

  /// Without the ends' own time.
  [[nodiscard]] double latency_in_node() const noexcept { return speeds_.node_latency / 2; }
  void find_way(route::node_id from, route::node_id to);
  [[nodiscard]] std::int64_t send_short(const transfer& what, double at);
  flow_id begin_flow(std::uint64_t pair, const transfer& what);
  void append(flow& to, const transfer& what);
  void use_rate(flow_id f);
  void expect_end(flow_id f);
  void settle_if_due();
  [[nodiscard]] double next_settling() const;
  [[nodiscard]] double next_end();
  void end_message(flow_id f, std::vector<left>& out);

  route::topology topology_;
  route::default_router router_;
  network_speeds speeds_;
  int ranks_per_node_;
  link_faults* ways_ = nullptr;      ///< null: the router's
  std::vector<double> link_free_;    ///< when each link has carried all short ones so far
  std::vector<double> sender_free_;  ///< the same of what each node sends
  std::vector<std::uint64_t> carried_;
  std::vector<route::link_id> path_;
  route::fair_shares shares_;  ///< of links, then nodes' sending, receiving, memories
  std::vector<flow> flows_;    ///< by their numbers in shares_
  std::unordered_map<std::uint64_t, flow_id> flow_of_;  ///< by sender and receiver
  std::vector<end> ends_;                               ///< a heap, in which some are out of date
  double now_ = 0;
  double settled_ = 0;  ///< when rates were made fair last
};

}  // namespace sinew::sim
