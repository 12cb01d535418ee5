// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* sizes[] = {"sizes=8,1024,16384,262144",
                                 "sizes=8,256,1024,4096,16384,65536,262144,1048576",
                                 "sizes=8,64,256,1024,4096,16384,65536,262144,1048576,4194304"};
constexpr const char* budgets[] = {"budget_ms=8", "budget_ms=20", "budget_ms=60"};

std::vector<start> starts(const request& asked) {
  const std::vector<std::string> words = {asked.choose(sizes), asked.choose(budgets)};
  std::vector<start> all = {{2, words}, {4, words}};
  if (asked.how !=
      effort::quick) {  // peers take seconds for each row of so many more than processors
    all.push_back({8, words});
  }
  return all;
}

const experiment self{.name = "coll",
                      .about = "blocking collectives of 2, 4 and 8 ranks, back to back; us",
                      .by = mpi_programs(),
                      .starts = starts,
                      .hosts = between_hosts::all,
                      .cases = {"barrier", "bcast", "reduce", "allreduce", "reduce_scatter",
                                "allgather", "alltoall", "gather", "scatter"}};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
