// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=10", "budget_ms=25", "budget_ms=100"};
constexpr const char* sizes[] = {
    "sizes=8,4096,32768,1048576", "sizes=8,64,512,4096,32768,262144,1048576,8388608,33554432",
    ("sizes=8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,"
     "1048576,2097152,4194304,8388608,16777216,33554432")};

std::vector<start> starts(const request& asked) {
  const std::vector<std::string> words = {asked.choose(sizes), asked.choose(budgets)};
  return {{2, words, "coarray.f90"}, {2, words, "mpi.c"}};
}

std::vector<std::string> floor_words(const request& asked) {
  return {"line", "memcpy", asked.choose(sizes)};
}

// One core copies, then a line tells the other image; each counts once in half a round trip.
std::optional<double> floor_of(const stats::result_set& results, const stats::row_key& key) {
  const bool moves = key.case_name == "put" || key.case_name == "get";
  const auto line = results.median(key.experiment, "line", {{"kind", "pair"}}, "floor");
  const std::string size = value_of(key.params, "bytes");
  const auto copy = results.median(key.experiment, "memcpy", {{"bytes", size}}, "floor");
  const auto bytes = stats::parse_number(size);
  if (!line || (moves && (!copy || !bytes))) {
    return std::nullopt;
  }
  if (key.case_name == "sync-all" || key.case_name == "sync-images") {
    return *line / 1e3;
  }
  if (!moves) {
    return std::nullopt;
  }
  const double ns = *line + *bytes / *copy;
  return key.metric == "bandwidth" ? *bytes / ns : ns / 1e3;
}

// The newest package of OpenCoarrays aborts where a pointer component is read.
std::vector<subject> columns(std::vector<subject> found) {
  for (subject& s : found) {
    if (s.name == "opencoarrays") {
      s.arguments = {"halo=no"};
    }
  }
  return found;
}

bool takes_part(const subject& who, const start& how) {
  const bool has_coarrays = who.name == "sinew" || who.name == "opencoarrays";
  return has_coarrays == (how.program == "coarray.f90");
}

const experiment self{.name = "coarray",
                      .about = "put, get, strided, synchronisation, co_sum, halo; us and GB/s",
                      .by = coarray_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = floor_of,
                      .columns = columns,
                      .takes_part = takes_part,
                      .hosts = between_hosts::pair};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
