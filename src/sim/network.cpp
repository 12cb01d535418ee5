// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sim/network.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"

namespace sinew::sim {
namespace {

struct field {
  const char* name;
  double network_speeds::* value;
};
constexpr field fields[] = {{"send", &network_speeds::send_overhead},
                            {"receive", &network_speeds::receive_overhead},
                            {"latency", &network_speeds::latency},
                            {"hop", &network_speeds::hop_latency},
                            {"rate", &network_speeds::link_rate},
                            {"injection", &network_speeds::injection_rate},
                            {"gap", &network_speeds::gap},
                            {"node-latency", &network_speeds::node_latency},
                            {"node-rate", &network_speeds::node_rate}};

std::string field_names() {
  std::string all = "speeds";
  for (const field& each : fields) {
    all += std::string(", ") + each.name;
  }
  return all;
}

/// Topologies' texts have commas of their own, so words are ours from the first on that has a name
/// of ours before a sign of equality.
std::size_t begin_of_options(std::string_view text) {
  for (std::size_t at = text.find(','); at != std::string_view::npos; at = text.find(',', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    const std::string_view name = rest.substr(0, rest.find('='));
    if (name == "speeds" || std::any_of(std::begin(fields), std::end(fields),
                                        [&](const field& f) { return name == f.name; })) {
      return at;
    }
  }
  return text.size();
}

const char* usual_preset(std::string_view topology) {
  return topology.starts_with("mira")        ? "bgq"
         : topology.starts_with("fattree")   ? "edr"
         : topology.starts_with("dragonfly") ? "edr"
                                             : "bgq";
}

void choose_preset(network_speeds& speeds, std::string_view name) {
  std::string names;
  for (const network_preset& each : presets()) {
    if (name == each.name) {
      speeds = each.speeds;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  SINEW_CHECK(false, "the speeds " + std::string(name) + " are not known",
              "they are none of " + names, "choose one of them");
}

}  // namespace

const std::vector<network_preset>& presets() {
  // Latencies and rates as their makers or the papers below give them; overheads are of the order
  // that those papers measured with MPI.
  static const std::vector<network_preset> all = {
      // Chen et al.: The IBM Blue Gene/Q interconnection network and message unit, SC 2011: 2 GB/s
      // a
      // link, of which 1.8 carry data; 32 ns a hop; 10 links a node.
      {"bgq", "Blue Gene/Q", {500, 500, 600, 32, 1.8, 18, 100, 400, 10}},
      // Ajima et al.: The Tofu interconnect D, CLUSTER 2018: 6.8 GB/s a link, 0.49 us for a put.
      {"tofu", "Tofu interconnect D", {150, 150, 350, 70, 6.8, 40.8, 30, 250, 12}},
      // Keeneland: QDR, 3.2 GB/s of data.
      {"qdr", "InfiniBand QDR", {350, 350, 900, 100, 3.2, 3.2, 120, 300, 6}},
      // Astra: EDR, 12 GB/s of data, 90 ns a switch.
      {"edr", "InfiniBand EDR", {250, 250, 600, 90, 12, 12, 50, 250, 10}},
      {"ethernet",
       "Ethernet of 25 Gbit/s over TCP",
       {4000, 4000, 9000, 600, 2.9, 2.9, 800, 250, 10}},
  };
  return all;
}

network_choice parse_network(std::string_view text) {
  const std::size_t end = begin_of_options(text);
  network_choice made{std::string(text.substr(0, end)), {}};
  choose_preset(made.speeds, usual_preset(text));
  if (end == text.size()) {
    return made;
  }
  for (const std::string& word : base::split(text.substr(end + 1), ',')) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "speeds") {
      choose_preset(made.speeds, value);
      continue;
    }
    const auto* const known = std::find_if(std::begin(fields), std::end(fields),
                                           [&](const field& f) { return name == f.name; });
    const std::optional<double> number = base::parse_double(value);
    SINEW_CHECK(
        known != std::end(fields) && number.has_value() && *number >= 0 && std::isfinite(*number),
        "the network's " + word + " cannot be read",
        "it is not NAME=NUMBER with one of the names " + field_names(),
        "times are in ns, rates in GB/s");
    made.speeds.*(known->value) = *number;
  }
  for (double network_speeds::* rate :
       {&network_speeds::link_rate, &network_speeds::injection_rate, &network_speeds::node_rate}) {
    SINEW_CHECK(made.speeds.*rate > 0, "the network carries nothing", "a rate is 0",
                "give a greater one, in GB/s");
  }
  return made;
}

network::network(const network_choice& choice, int ranks, int ranks_per_node)
    : topology_(route::parse_topology(choice.topology)),
      router_(topology_),
      speeds_(choice.speeds),
      ranks_per_node_(ranks_per_node),
      link_free_(topology_.links()),
      sender_free_(topology_.endpoints()),
      carried_(topology_.links()) {
  SINEW_EXPECT(ranks > 0 && ranks_per_node > 0);
  const int nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  SINEW_CHECK(
      nodes <= static_cast<int>(topology_.endpoints()),
      std::to_string(ranks) + " ranks have no room on " + topology_.name(),
      "with " + std::to_string(ranks_per_node) + " on each node they need " +
          std::to_string(nodes) + " nodes, and it has " + std::to_string(topology_.endpoints()),
      "start fewer ranks, put more on a node (--ranks-per-node), or choose a larger network");
}

std::int64_t network::least_delay() const noexcept {
  const double between_nodes = speeds_.latency + speeds_.hop_latency;
  return static_cast<std::int64_t>(
      ranks_per_node_ == 1 ? between_nodes : std::min(speeds_.node_latency, between_nodes));
}

// A message goes on over the next link as soon as its first byte has come (cut-through), and then
// takes that link for its whole length; so it is no faster than its slowest link, and waits where
// others are before it.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): from, to, how much, when
std::int64_t network::arrival(int from, int to, std::uint64_t bytes, std::int64_t time) {
  const auto length = static_cast<double>(bytes);
  const auto here = static_cast<route::node_id>(from / ranks_per_node_);
  const auto there = static_cast<route::node_id>(to / ranks_per_node_);
  auto at = static_cast<double>(time);
  if (here == there) {
    return static_cast<std::int64_t>(at + speeds_.node_latency + length / speeds_.node_rate);
  }
  double& sender = sender_free_[here];
  at = std::max(at, sender);
  double slowest = speeds_.injection_rate;
  sender = at + std::max(speeds_.gap, length / slowest);
  path_.clear();
  const bool reached = router_.append(here, there, path_);
  SINEW_CHECK(reached, "a message cannot come to its rank",
              "the network has no way from node " + std::to_string(here) + " to node " +
                  std::to_string(there),
              "choose a network that is connected");
  for (const route::link_id l : path_) {
    const double rate = speeds_.link_rate * topology_.capacity(l);
    at = std::max(at, link_free_[l]);
    link_free_[l] = at + length / rate;
    at += speeds_.hop_latency;
    slowest = std::min(slowest, rate);
    carried_[l] += bytes;
  }
  return static_cast<std::int64_t>(at + speeds_.latency + length / slowest);
}

}  // namespace sinew::sim
