// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=30", "budget_ms=60", "budget_ms=150"};

constexpr const char* fans[] = {"fan=2,16,64,256", "fan=2,16,64,256,1024", ""};

std::vector<start> starts(const request& asked) {
  if (asked.how != effort::full) {
    const bool quick = asked.how == effort::quick;
    return {
        {1, {asked.choose(fans), quick ? "ranks=1,2" : "ranks=1,2,4,8,16", asked.choose(budgets)}}};
  }
  std::vector<start> all;  // the widest take a minute for each number of ranks
  for (const char* fan : {"2,16,32,64", "128,256", "512", "1024", "2048"}) {
    for (const char* ranks : {"1", "2", "4", "8", "16"}) {
      all.push_back(
          {1, {std::string("fan=") + fan, std::string("ranks=") + ranks, asked.choose(budgets)}});
    }
  }
  return all;
}

std::vector<start> starts_on(const request& asked, int /*hosts*/) {
  static constexpr const char* few[] = {"fan=16,64", "fan=16,64,256", "fan=16,32,64,128,256,512"};
  return {{1, {asked.choose(few), asked.choose(budgets)}}};
}

const experiment self{.name = "event-throughput",
                      .about = "fans of events; thousand a second",
                      .by = library_programs(),
                      .starts = starts,
                      .peers = {{.name = "realm", .header = {}, .options = {}, .cmake = "Realm"}},
                      .hosts = between_hosts::each,
                      .starts_on = starts_on};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
