// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=50", "budget_ms=200", "budget_ms=1000"};

// One task a rank, and eight as the original had on a node. The dense ones of eight take seconds a
// round, so each number of ranks is a start of its own.
std::vector<start> starts(const request& asked) {
  const std::string budget = asked.choose(budgets);
  if (asked.how == effort::quick) {
    return {{1, {budget, "tasks=1", "ranks=1,2"}},
            {1, {budget, "tasks=8", "ranks=2", "case=sparse"}}};
  }
  std::vector<start> all = {{1, {budget, "tasks=1", "ranks=1,2,4,8,16"}},
                            {1, {budget, "tasks=8", "ranks=1,2,4,8,16", "case=sparse"}}};
  for (const char* ranks : {"ranks=1", "ranks=2", "ranks=4", "ranks=8", "ranks=16"}) {
    if (asked.how == effort::full) {
      all.push_back({1, {budget, "tasks=8", ranks, "case=dense"}});
    }
  }
  return all;
}

std::vector<start> starts_on(const request& asked, int /*hosts*/) {
  const std::string budget = asked.choose(budgets);
  std::vector<start> all = {{1, {budget, "tasks=1", "case=dense"}},
                            {1, {budget, "tasks=1", "case=sparse"}},
                            {1, {budget, "tasks=8", "case=sparse"}}};
  if (asked.how != effort::quick) {
    all.push_back({1, {budget, "tasks=8", "case=dense"}});
  }
  return all;
}

const experiment self{.name = "reductions",
                      .about = "histograms by reduction instances, in six ways; million a second",
                      .by = library_programs(),
                      .starts = starts,
                      .peers = {{.name = "realm", .header = {}, .options = {}, .cmake = "Realm"}},
                      .hosts = between_hosts::each,
                      .starts_on = starts_on};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
