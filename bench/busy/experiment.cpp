// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

std::vector<start> starts(const request&) { return {{2, {}}}; }

const experiment self{.name = "busy",
                      .about = "what asks a rank that waits, or computes; us",
                      .by = job_programs(),
                      .starts = starts,
                      .table = wide_table,
                      .hosts = between_hosts::pair};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
