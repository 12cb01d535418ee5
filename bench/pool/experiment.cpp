// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=30", "budget_ms=60", "budget_ms=150"};
constexpr const char* threads[] = {"threads=1,2,4,8", "threads=1,2,4,8",
                                   "threads=1,2,4,6,8,10,12,14"};

std::vector<start> starts(const request& asked) {
  return {{1, {asked.choose(threads), asked.choose(budgets)}}};
}

// Where bursts are timed as in the paper the floor is the clock, and most of the row.
std::string net_of_the_clock(const stats::row& r, std::optional<double> floor) {
  const auto ours = stats::median_in(r, "sinew");
  const auto best = stats::best_peer(r, "sinew");
  if (value_of(r.key.params, "method") != "paper" || !ours || !best || !floor) {
    return "-";
  }
  const auto net = stats::net_ratio(*ours, best->second, *floor);
  return net ? stats::short_number(*net) + "x" : "-";
}

const experiment self{.name = "pool",
                      .about = "the packet pool: a get and a put; ns",
                      .by = library_programs(),
                      .starts = starts,
                      .extra = extra_column{"net of the clock", net_of_the_clock},
                      .peers = {{"boost-stack", "boost/lockfree/stack.hpp", {}},
                                {"boost-queue", "boost/lockfree/queue.hpp", {}},
                                {"moodycamel", "concurrentqueue/concurrentqueue.h", {}}}};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
