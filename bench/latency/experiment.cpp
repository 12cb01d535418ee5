#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

constexpr const char* sizes[] = {"sizes=8,4096,65536,1048576",
                                 "sizes=0,8,64,512,4096,16384,65536,262144,1048576,4194304",
                                 "sizes=0,8,64,512,4096,16384,65536,262144,1048576,4194304"};
constexpr const char* budgets[] = {"budget_ms=25", "budget_ms=50", "budget_ms=150"};

std::vector<start> starts(const request& asked) {
  std::vector<std::string> words = {asked.choose(sizes), asked.choose(budgets)};
  if (asked.thread_multiple) {
    words.emplace_back("thread=multiple");
  }
  return {{2, words}};
}

std::vector<std::string> floor_words(const request& asked) {
  return {"line", "memcpy", asked.choose(sizes)};
}

// One trip of a line, and its bytes at memcpy's rate unless they travel in the line itself.
std::optional<double> floor_of(const stats::result_set& results, const stats::row_key& key) {
  const auto line = results.median(key.experiment, "line", {{"kind", "pair"}}, "floor");
  if (!line) {
    return std::nullopt;
  }
  const auto bytes = stats::parse_number(value_of(key.params, "bytes"));
  if (!bytes || *bytes <= 64) {
    return line;
  }
  const auto copy = copy_rate_of(results, key);
  if (!copy || *copy <= 0) {
    return std::nullopt;
  }
  return *line + *bytes / *copy;
}

const experiment self{.name = "latency",
                      .about = "a message's one-way trip between two ranks, and exchanges; ns",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = floor_of};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
