// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr int ranks = 8;
constexpr const char* budgets[] = {"budget_ms=400", "budget_ms=1000", "budget_ms=3000"};

std::vector<start> starts(const request& asked) {
  return {{ranks, {"case=ring", asked.choose(budgets)}},
          {ranks, {"case=allreduce", asked.choose(budgets)}},
          {2, {"case=idle"}}};
}

std::vector<std::string> floor_words(const request&) { return {"futex-switch"}; }

std::optional<double> floor_of(const stats::result_set& results, const stats::row_key& key) {
  if (key.metric != "latency") {
    return results.median(key, "floor");
  }
  return results.median(key.experiment, "futex-switch", {{"kind", "same-core"}}, "floor");
}

const experiment self{.name = "oversubscribed",
                      .about = "ring and allreduce of 8 ranks on few processors; idle ranks; us",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = floor_of};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
