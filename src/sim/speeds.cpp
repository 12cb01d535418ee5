// SPDX-License-Identifier: BSD-3-Clause
// The texts that name a network and its speeds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/sim/network.hpp"

namespace sinew::sim {
namespace {

/// Of a node that sends as fast as all of its links do.
constexpr double unlimited_rate = 1e9;

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
                            {"node-rate", &network_speeds::node_rate},
                            {"memory-rate", &network_speeds::memory_rate}};

std::string field_names() {
  std::string all = "speeds";
  for (const field& each : fields) {
    all += std::string(", ") + each.name;
  }
  return all;
}

bool is_option(std::string_view name) {
  return name == "speeds" || std::any_of(std::begin(fields), std::end(fields),
                                         [&](const field& f) { return name == f.name; });
}

/// Topologies' texts have commas of their own, so words are ours from the first on that has a name
/// of ours before a sign of equality. Where that is, or the text's length.
std::size_t begin_of_options(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (is_option(rest.substr(0, rest.find('=')))) {
      return at;
    }
    const std::size_t comma = rest.find(',');
    at = comma == std::string_view::npos ? text.size() : at + comma + 1;
  }
  return text.size();
}

const char* usual_preset(std::string_view topology) {
  return topology.starts_with("fattree") || topology.starts_with("dragonfly") ? "edr" : "bgq";
}

/// What the network's file says of its links.
void use_speeds_of(const route::topology& net, network_speeds& speeds) {
  if (const auto& known = net.speeds()) {
    speeds.link_rate = known->bandwidth / 1e9;
    speeds.hop_latency = known->hop_latency * 1e9;
    speeds.injection_rate = known->injection > 0 ? known->injection / 1e9 : unlimited_rate;
  }
}

void set_field(network_speeds& speeds, const std::string& word);

/// A preset's, or those that a file names, one a line.
void choose_speeds(network_speeds& speeds, const std::string& name) {
  std::string names;
  for (const network_preset& each : presets()) {
    if (name == each.name) {
      speeds = each.speeds;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  formats::for_each_line(
      formats::whole_file(name, "speeds= takes one of " + names +
                                    ", or a file that sinew simulate --calibrate has written"),
      [&](std::size_t line, const std::vector<std::string_view>& words) {
        if (words.size() != 1 || words.front().starts_with("speeds=")) {
          formats::bad_line(name, line, "it is not NAME=NUMBER");
        }
        set_field(speeds, std::string(words.front()));
      });
}

void set_field(network_speeds& speeds, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (name == "speeds") {
    choose_speeds(speeds, value);
    return;
  }
  const auto* const known = std::find_if(std::begin(fields), std::end(fields),
                                         [&](const field& f) { return name == f.name; });
  const std::optional<double> number = base::parse_double(value);
  SINEW_CHECK(
      known != std::end(fields) && number.has_value() && *number >= 0 && std::isfinite(*number),
      "the network's " + word + " cannot be read",
      "it is not NAME=NUMBER with one of the names " + field_names(),
      "times are in ns, rates in GB/s");
  speeds.*(known->value) = *number;
}

}  // namespace

const std::vector<network_preset>& presets() {
  // Latencies and rates as their makers or the papers below give them; overheads are of the order
  // that those papers measured with MPI. A node's memory is read and written for each byte, so
  // memory_rate is about half of what STREAM's copy shows.
  static const std::vector<network_preset> all = {
      // Chen et al.: The IBM Blue Gene/Q interconnection network and message unit, SC 2011: 2 GB/s
      // a link, of which 1.8 carry data; 32 ns a hop; 10 links a node.
      {"bgq", "Blue Gene/Q", {500, 500, 600, 32, 1.8, 18, 100, 400, 10, 14}},
      // Ajima et al.: The Tofu interconnect D, CLUSTER 2018: 6.8 GB/s a link, 0.49 us for a put.
      {"tofu", "Tofu interconnect D", {150, 150, 350, 70, 6.8, 40.8, 30, 250, 12, 400}},
      // Keeneland: QDR, 3.2 GB/s of data.
      {"qdr", "InfiniBand QDR", {350, 350, 900, 100, 3.2, 3.2, 120, 300, 6, 20}},
      // Astra: EDR, 12 GB/s of data, 90 ns a switch.
      {"edr", "InfiniBand EDR", {250, 250, 600, 90, 12, 12, 50, 250, 10, 120}},
      {"ethernet",
       "Ethernet of 25 Gbit/s over TCP",
       {4000, 4000, 9000, 600, 2.9, 2.9, 800, 250, 10, 60}},
  };
  return all;
}

std::string to_text(const network_speeds& speeds) {
  std::string text;
  for (const field& each : fields) {
    char line[64];
    std::snprintf(line, sizeof line, "%s=%.6g\n", each.name, speeds.*(each.value));
    text += line;
  }
  return text;
}

network_choice parse_network(std::string_view text, int nodes) {
  const std::size_t options = begin_of_options(text);
  std::string topology(
      text.substr(0, options == 0 || options == text.size() ? options : options - 1));
  if (topology.empty()) {
    topology = "fattree:1;" + std::to_string(nodes) + ";1;1";
  }
  network_choice made{route::parse_topology(topology), {}};
  choose_speeds(made.speeds, usual_preset(topology));
  use_speeds_of(made.topology, made.speeds);
  if (options != text.size()) {
    for (const std::string& word : base::split(text.substr(options), ',')) {
      set_field(made.speeds, word);
    }
  }
  for (double network_speeds::* rate : {&network_speeds::link_rate, &network_speeds::injection_rate,
                                        &network_speeds::node_rate, &network_speeds::memory_rate}) {
    SINEW_CHECK(made.speeds.*rate > 0, "the network carries nothing", "a rate is 0",
                "give a greater one, in GB/s");
  }
  return made;
}

}  // namespace sinew::sim
