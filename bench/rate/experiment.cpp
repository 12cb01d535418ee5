// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=25", "budget_ms=50", "budget_ms=150"};

std::vector<start> starts(const request& asked) {
  std::vector<std::string> words = {"sizes=8", asked.choose(budgets)};
  if (asked.thread_multiple) {
    words.emplace_back("thread=multiple");
  }
  return {{2, words}};
}

std::vector<std::string> floor_words(const request&) { return {"line-stream"}; }

std::optional<double> floor_of(const stats::result_set& results, const stats::row_key& key) {
  return results.median(key.experiment, "line-stream", {{"kind", "ring"}}, "floor");
}

const experiment self{.name = "rate",
                      .about = "8-byte messages from one rank to another; million a second",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = floor_of,
                      .all_transports = true,
                      .hosts = between_hosts::pair,
                      .over_hosts = ucx_floor::rate};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
