// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

constexpr const char* sizes[] = {"sizes=8,4096,65536,1048576",
                                 "sizes=0,8,64,512,4096,16384,65536,262144,1048576,4194304",
                                 ("sizes=0,1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,"
                                  "32768,65536,131072,262144,524288,1048576,2097152,4194304")};
constexpr const char* budgets[] = {"budget_ms=25", "budget_ms=50", "budget_ms=150"};

std::vector<start> starts(const request& asked) {
  std::vector<std::string> words = {asked.choose(sizes), asked.choose(budgets)};
  if (asked.thread_multiple) {
    words.emplace_back("thread=multiple");
  }
  return {{2, words}};
}

std::vector<std::string> floor_words(const request& asked) {
  return {"line", "transfer", asked.choose(sizes)};
}

const experiment self{.name = "latency",
                      .about = "a message's one-way trip between two ranks, and exchanges; ns",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = transfer_floor,
                      .all_transports = true,
                      .hosts = between_hosts::pair,
                      .over_hosts = ucx_floor::latency};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
