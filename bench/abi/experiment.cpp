// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=400", "budget_ms=1000", "budget_ms=4000"};

std::vector<start> starts(const request& asked) { return {{1, {asked.choose(budgets)}}}; }

const experiment self{.name = "abi",
                      .about = "a message by the standard's, MPICH's and Open MPI's ABI; ns",
                      .by = job_programs(),
                      .starts = starts,
                      .table = wide_table};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
