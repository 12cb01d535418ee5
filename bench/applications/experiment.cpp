// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=200", "budget_ms=400", "budget_ms=2000"};

std::vector<start> starts(const request& asked) {
  const std::string budget = asked.choose(budgets);
  return {{2, {budget, "meshes=48"}, "fire.f90"}, {8, {budget, "edge=10"}, "lulesh.c"}};
}

// Ours with the engines that the paper compares.
std::vector<subject> columns(std::vector<subject> found) {
  std::vector<subject> all;
  for (const subject& s : found) {
    if (s.name != "sinew") {
      all.push_back(s);
      continue;
    }
    for (const char* engine : {"hash", "bins1021", "list"}) {
      all.push_back(s);
      all.back().engine = engine;
    }
  }
  return all;
}

const experiment self{
    .name = "applications",
    .about = "steps of two applications' exchanges: fire (many meshes), LULESH's pattern; us",
    .by = fortran_programs(),
    .starts = starts,
    .columns = columns};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
