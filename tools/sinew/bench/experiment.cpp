// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

#include <algorithm>

namespace sinew::tool {
namespace {

// A function's static, since the order in which files are initialised is open.
std::vector<const experiment*>& registry() {
  static std::vector<const experiment*> all;
  return all;
}

class own_command_runner final : public runner {
 public:
  [[nodiscard]] std::vector<subject> subjects(const experiment&, const machine&) const override {
    return {sinew_itself()};
  }
  [[nodiscard]] std::optional<command> prepare(const experiment&, const subject&, const start& how,
                                               std::string&) const override {
    command c{{"/proc/self/exe"}, {}, 0};
    c.words.insert(c.words.end(), how.words.begin(), how.words.end());
    return c;
  }
  // Their own rows say what bounds them.
  [[nodiscard]] std::vector<command> floors(const experiment&, const request&) const override {
    return {};
  }
};

class mpi_runner final : public runner {
 public:
  [[nodiscard]] bool over_mpi() const override { return true; }
  [[nodiscard]] std::vector<subject> subjects(const experiment&, const machine& m) const override {
    return m.mpi;
  }
  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    const auto program = build_program(who, std::string(e.name), how.program, failure);
    if (!program) {
      return std::nullopt;
    }
    return how.over != nullptr
               ? launch_over(*how.over, who, *program, how.words, e.timed != nullptr)
               : launch_command(who, how.ranks, *program, how.words, e.timed != nullptr);
  }
};

}  // namespace

listed::listed(const experiment& e) noexcept { registry().push_back(&e); }

const std::vector<const experiment*>& all_experiments() {
  auto& all = registry();
  std::sort(all.begin(), all.end(),
            [](const experiment* a, const experiment* b) { return a->name < b->name; });
  return all;
}

std::vector<command> runner::floors(const experiment& e, const request& asked) const {
  if (e.floor_words == nullptr) {
    return {};
  }
  command c{{"/proc/self/exe", "bench", "--floor-probe"}, {}, 0};
  const std::vector<std::string> words = e.floor_words(asked);
  c.words.insert(c.words.end(), words.begin(), words.end());
  return {c};
}

const runner& own_commands() {
  static const own_command_runner one;
  return one;
}

const runner& mpi_programs() {
  static const mpi_runner one;
  return one;
}

}  // namespace sinew::tool
