// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* sides[] = {"sizes=8", "sizes=8,32", "sizes=8,32,64"};
constexpr const char* budgets[] = {"budget_ms=20", "budget_ms=60", "budget_ms=200"};

std::vector<start> starts(const request& asked) {
  const std::vector<std::string> words = {asked.choose(sides), asked.choose(budgets)};
  return {{2, words}, {8, words}};
}

const experiment self{.name = "topology",
                      .about = "halos by neighbour collectives and by hand; making grids; us",
                      .by = mpi_programs(),
                      .starts = starts};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
