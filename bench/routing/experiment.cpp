// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

// The paper's other figures, along one quantity each. Each takes less than the limit of a start.
std::vector<start> sweep(const request& asked) {
  std::vector<start> all;
  const std::vector<const char*> few = {"along=maxload", "along=aggregation", "along=distance"};
  const std::vector<const char*> every = {
      "along=distance",  "along=destinations", "along=bytes",  "along=ranks-per-node",
      "along=paths-fed", "along=aggregation",  "along=maxload"};
  for (const char* along : asked.how == effort::quick && !asked.sweep ? few : every) {
    all.push_back({1, {"route", "--measure", "sweep", along, "nodes=512"}});
    if (asked.how == effort::full) {
      all.push_back({1, {"route", "--measure", "sweep", along, "nodes=1024"}});
    }
  }
  return all;
}

std::vector<start> starts(const request& asked) {
  if (asked.sweep) {
    return sweep(asked);
  }
  static const std::vector<const char*> nodes[] = {
      {"nodes=512", "nodes=1024"},
      {"nodes=512", "nodes=1024", "nodes=2048", "nodes=4096", "nodes=8192"},
      {"nodes=512", "nodes=1024", "nodes=2048", "nodes=4096", "nodes=8192"}};
  std::vector<start> all = sweep(asked);
  for (const char* n : asked.choose(nodes)) {
    for (const char* pattern :
         {"patterns=disjoint", "patterns=overlap", "patterns=subset", "patterns=incast"}) {
      all.push_back({1, {"route", "--measure", "routing", n, pattern}});
    }
  }
  return all;
}

bool one_round(const request&) { return true; }

const experiment self{
    .name = "routing",
    .about = "plans for messages on a torus and their certificates; MB on the busiest link",
    .by = own_commands(),
    .starts = starts,
    .table = wide_table,
    .one_round = one_round};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
