// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* sizes[] = {"sizes=8", "sizes=8,1024", "sizes=0,8,64,512,1024,4096"};
constexpr const char* budgets[] = {"budget_ms=25", "budget_ms=50", "budget_ms=150"};

std::vector<start> starts(const request& asked) {
  return {{2, {asked.choose(sizes), asked.choose(budgets)}}};
}

const experiment self{.name = "overheads",
                      .about = "a rank's own time to send a message, and to take one; ns",
                      .by = mpi_programs(),
                      .starts = starts,
                      .all_transports = true,
                      .hosts = between_hosts::pair};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
