// SPDX-License-Identifier: BSD-3-Clause
// Speeds of machines, and how files and options write them.
#include "sinew/route/machine.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {
namespace {

using unit = std::pair<std::string_view, double>;

// The longest suffix that fits comes first in each table.
constexpr unit prefixes[] = {
    {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0},
    {"k", 1e3},     {"K", 1e3},        {"M", 1e6},           {"G", 1e9},
    {"T", 1e12},    {"", 1.0}};
constexpr unit times[] = {{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6},
                          {"ms", 1e-3},  {"s", 1.0},   {"", 1.0}};

std::optional<double> number_before(std::string_view text, std::string_view suffix) {
  if (!text.ends_with(suffix)) {
    return std::nullopt;
  }
  const auto value = base::parse_double(text.substr(0, text.size() - suffix.size()));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

machine machine_of(const topology& net, machine costs) {
  const auto& speeds = net.speeds();
  if (!speeds) {
    return costs;
  }
  costs.link_bandwidth = speeds->bandwidth;
  costs.hop_latency = speeds->hop_latency;
  costs.injection_bandwidth = speeds->injection > 0 ? speeds->injection : 1e18;
  return costs;
}

void check_machine(const machine& m) {
  SINEW_CHECK(m.chunk >= 1, "no machine moves chunks of 0 bytes",
              "messages are cut into chunks, and none would ever arrive",
              "a chunk has 1 byte or more");
  SINEW_CHECK(m.link_bandwidth > 0 && m.injection_bandwidth > 0 && m.copy_bandwidth > 0,
              "a machine without bandwidth", "a bandwidth is not above 0",
              "bandwidths are bytes per second");
  SINEW_CHECK(m.start_up >= 0 && m.hop_latency >= 0 && m.forward_latency >= 0,
              "a machine with negative times", "a latency is below 0", "latencies are seconds");
}

std::optional<double> parse_bandwidth(std::string_view text) {
  std::optional<double> found = number_before(text, "");
  for (const auto& [kind, bytes] : {unit{"Bps", 1.0}, unit{"bps", 0.125}}) {
    for (const auto& [prefix, factor] : prefixes) {
      if (found) {
        break;
      }
      found = number_before(text, std::string(prefix) + std::string(kind));
      if (found) {
        *found *= factor * bytes;
      }
    }
  }
  return found && *found > 0 ? found : std::nullopt;
}

std::optional<double> parse_latency(std::string_view text) {
  std::optional<double> found;
  for (const auto& [suffix, factor] : times) {
    if (found) {
      break;
    }
    found = number_before(text, suffix);
    if (found) {
      *found *= factor;
    }
  }
  return found && *found >= 0 ? found : std::nullopt;
}

}  // namespace sinew::route
