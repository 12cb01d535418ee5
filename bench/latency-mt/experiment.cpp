// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

std::vector<start> starts(const request& asked) {
  static const std::vector<std::string> words[] = {
      {"threads=1,2,14", "sizes=8", "budget_ms=100"},
      {"threads=1,2,4,8,14", "sizes=8,64", "budget_ms=150"},
      {"threads=1,2,4,8,14", "sizes=8,64", "budget_ms=500"},
  };
  std::vector<start> all = {{2, asked.choose(words)}, {2, asked.choose(words), "fibers"}};
  if (asked.how == effort::full) {  // the paper's figure: 14 threads, by size
    const std::vector<std::string> by_size = {
        "threads=14", "sizes=1,2,4,16,32,128,256,512,1024,2048,4096,8192,16384", "budget_ms=500"};
    all.insert(all.end(), {{2, by_size}, {2, by_size, "fibers"}});
  }
  return all;
}

std::vector<std::string> floor_words(const request&) { return {"line"}; }

// With more threads than cores a second transport needs seconds for a message; the same one runs
// again, told to yield.
std::vector<subject> columns(std::vector<subject> found) {
  std::vector<subject> all;
  for (const subject& s : found) {
    if (!s.default_transport) {
      continue;
    }
    if (s.name == "openmpi") {
      all.push_back(s);
      all.back().name = "openmpi-yield";
      all.back().options = {"--mca", "mpi_yield_when_idle", "1"};
    }
    all.push_back(s);
  }
  return all;
}

bool takes_part(const subject& who, const start& how) {
  return how.program.empty() || who.name == "sinew";  // nobody else has fibers
}

const experiment self{.name = "latency-mt",
                      .about = "the one-way trip while 1 to 14 threads a side wait at once; us",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = line_trip_us,
                      .columns = columns,
                      .takes_part = takes_part,
                      .hosts = between_hosts::pair};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
