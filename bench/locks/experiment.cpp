#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* budgets[] = {"budget_ms=30", "budget_ms=60", "budget_ms=150"};
constexpr const char* sweeps[] = {"sweep=quick", "sweep=usual", "sweep=full"};

// With more ranks than processors a row takes seconds: no start comes near the limit.
std::vector<start> starts(const request& asked) {
  const std::vector<std::string> words = {asked.choose(sweeps), asked.choose(budgets)};
  static const std::vector<const char*> parts[] = {
      {},
      {"only=1", "only=2", "only=4", "only=8", "only=16", "eights=32", "eights=256"},
      {"only=1", "only=2", "only=4", "only=8", "only=16", "eights=32", "eights=256", "eights=64",
       "eights=128", "eights=512", "eights=1024"}};
  if (asked.how == effort::quick) {
    return {{1, words}};
  }
  std::vector<start> all;
  for (const char* part : asked.choose(parts)) {
    all.push_back({1, words});
    all.back().words.emplace_back(part);
  }
  return all;
}

// With --full minutes a round; each row is a median of rounds of its own.
bool one_round(const request& asked) { return asked.how == effort::full; }

const experiment self{.name = "locks",
                      .about = "grants of deferred locks to chains of tasks; thousand a second",
                      .by = library_programs(),
                      .starts = starts,
                      .one_round = one_round};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
