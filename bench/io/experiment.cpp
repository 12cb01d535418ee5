// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* lengths[] = {"mib=8", "mib=64", "mib=256"};
constexpr const char* budgets[] = {"budget_ms=50", "budget_ms=500", "budget_ms=3000"};

std::vector<start> starts(const request& asked) {
  const std::vector<std::string> words = {asked.choose(lengths), asked.choose(budgets)};
  return {{2, words}, {8, words}};
}

// Nothing writes a file faster than memory is copied; the processor that writes is one of few.
std::vector<std::string> floor_words(const request&) { return {"memcpy", "sizes=8388608"}; }

std::optional<double> floor_of(const stats::result_set& results, const stats::row_key& key) {
  return results.median(key.experiment, "memcpy", {{"bytes", "8388608"}}, "floor");
}

const experiment self{.name = "io",
                      .about = "files on tmpfs: a 3-D array by all, records by each; GB/s",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = floor_of};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
