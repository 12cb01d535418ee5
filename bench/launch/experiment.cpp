// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

std::vector<start> starts(const request&) { return {{2, {}}}; }

std::vector<std::string> floor_words(const request&) { return {"fork-exec"}; }

std::optional<double> floor_of(const stats::result_set& results, const stats::row_key& key) {
  return results.median(key.experiment, "fork-exec", {}, "floor");
}

// Again and again for about a second; the round's value is the median.
std::vector<stats::measurement> timed(const start& how,
                                      const std::function<std::optional<double>()>& run) {
  std::vector<double> times_ms;
  for (double spent_s = 0; times_ms.size() < 15 && spent_s < 1;) {
    const auto wall_s = run();
    if (!wall_s) {
      return {};
    }
    spent_s += *wall_s;
    times_ms.push_back(*wall_s * 1e3);
  }
  return {{"init-finalize",
           "time",
           "ms",
           {{"ranks", std::to_string(how.ranks)}},
           stats::median_of(times_ms)}};
}

// The second transport of one implementation has nothing of its own to show here.
std::vector<subject> columns(std::vector<subject> found) {
  std::erase_if(found, [](const subject& s) { return !s.default_transport; });
  return found;
}

const experiment self{.name = "launch",
                      .about = "a job of two ranks from its start to its end; ms",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = floor_of,
                      .columns = columns,
                      .timed = timed,
                      .hosts = between_hosts::all};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
