// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

#include "sinew/base/topology.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=8", "budget_ms=25", "budget_ms=80"};

// Overlap means something where each rank has a processor of its own.
std::vector<start> starts(const request& asked) {
  std::vector<start> all;
  for (const int ranks : {2, 4, 8, 16}) {
    if (ranks > 4 && asked.how == effort::quick) {
      break;
    }
    all.push_back({ranks, {"sizes=8,65536", asked.choose(budgets)}});
    if (ranks <= topology::usable_cpus()) {
      all.back().words.emplace_back("overlap=1");
    }
  }
  if (topology::usable_cpus() > 1) {
    all.push_back({2, {"sizes=8,65536", asked.choose(budgets), "overlap=1", "progress=thread"}});
  }
  return all;
}

const experiment self{.name = "icoll",
                      .about = "nonblocking collectives of 2 to 16 ranks; us, and percent hidden",
                      .by = mpi_programs(),
                      .starts = starts,
                      .hosts = between_hosts::all};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
