// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* counts[] = {"threads=8", "threads=1,2,8", "threads=1,2,4,8"};
constexpr const char* budgets[] = {"budget_ms=500", "budget_ms=4000", "budget_ms=10000"};

std::vector<start> starts(const request& asked) {
  return {{2, {"sizes=8", asked.choose(counts), asked.choose(budgets)}}};
}

const experiment self{.name = "overtaking",
                      .about = "message rate of threads, with and without MPI's promises of order",
                      .by = mpi_programs(),
                      .starts = starts,
                      .hosts = between_hosts::pair};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
