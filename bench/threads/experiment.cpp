// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=30", "budget_ms=60", "budget_ms=150"};

std::vector<start> starts(const request& asked) { return {{1, {asked.choose(budgets)}}}; }

const experiment self{
    .name = "threads",
    .about = "switch, yield, signal, round trip, spawn and join of fibers; ns",
    .by = library_programs(),
    .starts = starts,
    .peers = {{"pthread", "pthread.h", {}},
              {"boost", "boost/fiber/all.hpp", {"-lboost_fiber", "-lboost_context"}},
              {"argobots", "", {}, "argobots"},
              {"go", "", {}}}};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
