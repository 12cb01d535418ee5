// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

#include "sinew/bench/installed.hpp"

namespace sinew::tool {
namespace {

/// One program, with the system's threads and with its threads as fibers.
class stress_runner final : public runner {
 public:
  [[nodiscard]] std::vector<subject> subjects(const experiment&, const machine&) const override {
    const std::string cc = program_in_path("cc").value_or("");
    return {{"sinew", cc, ""}, {"pthread", cc, "", "of the system"}};
  }

  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    const auto here = find_c_sources(e.name, failure);
    const auto program = here ? compile_cached({here->compiler, "-O2", "-pthread"},
                                               here->folder + "/stress.c", {}, "stress", failure)
                              : std::nullopt;
    if (!program) {
      return std::nullopt;
    }
    command c;
    if (who.name == "sinew") {
      c.words = {own_folder() + "/sinew", "run", "--threads-as-fibers"};
    }
    c.words.push_back(*program);
    c.words.insert(c.words.end(), how.words.begin(), how.words.end());
    return c;
  }
};

const runner& threads_under_stress() {
  static const stress_runner one;
  return one;
}

// A start for each number of threads: many leave the kernel's memory as they found it too late for
// the next.
std::vector<start> starts(const request& asked) {
  static const std::vector<std::string> counts[] = {
      {"2", "64", "1000"}, {"2", "8", "64", "1000"}, {"2", "4", "8", "64", "512", "1000", "10000"}};
  static constexpr const char* budgets[] = {"budget_ms=50", "budget_ms=200", "budget_ms=500"};
  std::vector<start> all;
  for (const std::string& threads : asked.choose(counts)) {
    all.push_back({1, {"threads=" + threads, asked.choose(budgets)}});
  }
  return all;
}

const experiment self{
    .name = "stress",
    .about = "2 to 10,000 threads that share a mutex, wait by turns, or fill a queue; 1/s",
    .by = threads_under_stress(),
    .starts = starts};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
