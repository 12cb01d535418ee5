// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

constexpr const char* sizes[] = {"sizes=4096,65536,1048576",
                                 "sizes=8,64,512,4096,16384,65536,262144,1048576,4194304",
                                 "sizes=8,64,512,4096,16384,65536,262144,1048576,4194304"};
constexpr const char* budgets[] = {"budget_ms=25", "budget_ms=50", "budget_ms=150"};

std::vector<start> starts(const request& asked) {
  std::vector<std::string> words = {asked.choose(sizes), asked.choose(budgets)};
  if (asked.thread_multiple) {
    words.emplace_back("thread=multiple");
  }
  return {{2, words}};
}

std::vector<std::string> floor_words(const request& asked) {
  return {"stream", asked.choose(sizes)};
}

const experiment self{.name = "bandwidth",
                      .about = "a window of messages from one rank to another; GB/s",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = stream_floor,
                      .all_transports = true,
                      .hosts = between_hosts::pair,
                      .over_hosts = ucx_floor::bandwidth};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
