// SPDX-License-Identifier: BSD-3-Clause
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

// A start is one round of one row, so that each has ranks of its own.
std::vector<start> starts_on(const request& asked, int hosts) {
  static const std::vector<int> locks[] = {{32}, {32, 1024}, {32, 64, 128, 256, 512, 1024}};
  static const std::vector<int> chains[] = {{}, {32, 256}, {32, 64, 128, 256, 512, 1024}};
  std::vector<start> all;
  const auto add = [&all](const char* figure, int of_locks, int of_chains) {
    all.push_back({1,
                   {std::string("figure=") + figure, "locks=" + std::to_string(of_locks),
                    "chains=" + std::to_string(of_chains), "depth=1024"}});
  };
  if (hosts <= 2 && asked.how != effort::quick) {
    add("point", 32, 64);
  }
  for (const int each : asked.choose(locks)) {
    add("total-1024", each, 1024 / hosts);
  }
  for (const int each : asked.choose(locks)) {
    for (const int many : hosts == 8 ? asked.choose(chains) : std::vector<int>{}) {
      add("ranks-8", each, many);
    }
  }
  return all;
}

const experiment self{.name = "locks",
                      .about = "grants of deferred locks to chains of tasks; thousand a second",
                      .by = library_programs(),
                      .starts = starts,
                      .peers = {{.name = "realm", .header = {}, .options = {}, .cmake = "Realm"}},
                      .hosts = between_hosts::each,
                      .starts_on = starts_on};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
