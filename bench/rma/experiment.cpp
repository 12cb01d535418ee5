// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=20", "budget_ms=50", "budget_ms=150"};

std::vector<start> starts(const request& asked) {
  const std::string budget = asked.choose(budgets);
  return {{2, {budget}}, {2, {"case=fence", budget}}, {8, {"case=fence", budget}}};
}

// Rows of the names and parameters of ours: bare loads, stores, atomics and sums.
std::vector<std::string> floor_words(const request&) { return {"window"}; }

const experiment self{.name = "rma",
                      .about = "windows: a call and its flush, locks, fences; us",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .hosts = between_hosts::pair};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
