// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* sizes[] = {"sizes=65536", "sizes=4096,65536,1048576",
                                 "sizes=4096,65536,1048576"};
constexpr const char* budgets[] = {"budget_ms=30", "budget_ms=100", "budget_ms=300"};

std::vector<start> starts(const request& asked) {
  const auto words = [&asked](const char* threads, const char* partitions) {
    return std::vector<std::string>{threads, partitions, asked.choose(sizes),
                                    asked.choose(budgets)};
  };
  std::vector<start> all = {{2, words("threads=1", "partitions=16")},
                            {2, words("threads=4", "partitions=16")}};
  if (asked.how != effort::quick) {
    all.push_back({2, words("threads=4", "partitions=64")});
  }
  return all;
}

const experiment self{.name = "partitioned",
                      .about = "partitions that threads mark ready, beside as many messages; us",
                      .by = mpi_programs(),
                      .starts = starts,
                      .hosts = between_hosts::pair};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
