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
  return all;
}

std::vector<stats::measurement> timed(const start& how,
                                      const std::function<std::optional<double>()>& run) {
  const auto seconds = run();
  if (!seconds) {
    return {};
  }
  return {{"job",
           "time",
           "s",
           {{"ranks", std::to_string(how.ranks)}, {"torus", how.words.front()}},
           *seconds}};
}

const experiment self{.name = "simulate",
                      .about = "real seconds for 5 x (allreduce, ring shift) in virtual time",
                      .by = simulated_programs(),
                      .starts = starts,
                      .timed = timed,
                      .usual_rounds = 3};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
