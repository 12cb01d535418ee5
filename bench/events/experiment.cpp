// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=30", "budget_ms=60", "budget_ms=150"};

// On a busy machine a message may take a time slice, and the long chain minutes: too long for
// quick.
std::vector<start> starts(const request& asked) {
  if (asked.how == effort::quick) {
    return {{1, {"depth=1024,16384", "ranks=1", asked.choose(budgets)}},
            {1, {"depth=1024", "ranks=2", asked.choose(budgets)}}};
  }
  return {{1, {"depth=1024,16384", "ranks=1,2,4,8,16", asked.choose(budgets)}}};
}

std::vector<start> starts_on(const request& asked, int /*hosts*/) {
  const bool quick = asked.how == effort::quick;
  return {{1, {quick ? "depth=1024" : "depth=1024,16384", asked.choose(budgets)}}};
}

const experiment self{.name = "events",
                      .about = "chains of events between ranks; ns a trigger",
                      .by = library_programs(),
                      .starts = starts,
                      .peers = {{.name = "realm", .header = {}, .options = {}, .cmake = "Realm"}},
                      .hosts = between_hosts::each,
                      .starts_on = starts_on};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
