// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

std::vector<start> starts(const request&) { return {{8, {}}}; }

// Messages long enough that a cable's rate counts, and short enough for a slow one.
std::vector<start> starts_on(const request& asked, int /*hosts*/) {
  static constexpr const char* bytes[] = {"100000", "500000", "1000000"};
  return {{1, {"links", asked.shape, asked.choose(bytes)}}};
}

const experiment self{.name = "carry",
                      .about = "plans carried out: among 8 ranks here, or by cables of hosts; MB/s",
                      .by = job_programs(),
                      .starts = starts,
                      .table = wide_table,
                      .hosts = between_hosts::torus,
                      .starts_on = starts_on};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
