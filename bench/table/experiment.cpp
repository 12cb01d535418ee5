// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=30", "budget_ms=60", "budget_ms=150"};
constexpr const char* threads[] = {"threads=1,2,4,8", "threads=1,2,4,8",
                                   "threads=1,2,4,6,8,10,12,14"};

std::vector<start> starts(const request& asked) {
  return {{1, {asked.choose(threads), asked.choose(budgets)}}};
}

const experiment self{.name = "table",
                      .about = "the concurrent insert-or-match table; ns an operation",
                      .by = library_programs(),
                      .starts = starts,
                      .peers = {{"tbb", "tbb/concurrent_hash_map.h", {"-ltbb"}},
                                {"libcuckoo", "libcuckoo/cuckoohash_map.hh", {}}}};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
