// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=25", "budget_ms=50", "budget_ms=150"};

std::vector<start> starts(const request& asked) {
  return {{2, {asked.choose(budgets)}, "f08.f90"}, {2, {asked.choose(budgets)}, "c.c"}};
}

std::vector<std::string> floor_words(const request&) { return {"line"}; }

// Of the message alone: nothing bounds a call that does not communicate.
std::optional<double> floor_of(const stats::result_set& results, const stats::row_key& key) {
  return key.case_name == "one-way"
             ? results.median(key.experiment, "line", {{"kind", "pair"}}, "floor")
             : std::nullopt;
}

const experiment self{.name = "fortran",
                      .about = "what a call from mpi_f08 costs beside C; halos by sections; ns",
                      .by = fortran_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = floor_of};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
