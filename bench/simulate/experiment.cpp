// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

std::vector<start> starts(const request& asked) {
  std::vector<start> all = {{64, {"4x4x4"}}, {256, {"8x8x4"}}};
  if (asked.how != effort::quick) {
    all.push_back({1024, {"16x8x8"}});
  }
  if (asked.how == effort::full) {
    all.push_back({4096, {"32x16x8"}});
  }
  start seen = all.front();
  seen.program = "patterns";
  all.push_back(std::move(seen));
  return all;
}

std::vector<stats::measurement> timed(const start& how,
                                      const std::function<std::optional<double>()>& run) {
  const auto seconds = run();
  if (!seconds || !how.program.empty()) {  // patterns print what they have seen
    return {};
  }
  return {{"job",
           "time",
           "s",
           {{"ranks", std::to_string(how.ranks)}, {"torus", how.words.front()}},
           *seconds}};
}

const experiment self{
    .name = "simulate",
    .about = "jobs in virtual time: real seconds they take, and microseconds that they see",
    .by = simulated_programs(),
    .starts = starts,
    .timed = timed,
    .usual_rounds = 3};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
