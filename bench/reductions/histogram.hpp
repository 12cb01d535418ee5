// SPDX-License-Identifier: BSD-3-Clause
// What all who measure reductions count: the two histograms, and the indices of buckets.
#ifndef SINEW_BENCH_HISTOGRAM_HPP
#define SINEW_BENCH_HISTOGRAM_HPP

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/micro.hpp"

namespace histogram {

struct experiment {
  const char* name;
  std::uint64_t buckets;
  std::uint64_t reductions;  ///< of a task
};
constexpr experiment experiments[] = {{"dense", 1 << 18, 1 << 22}, {"sparse", 1 << 22, 1 << 16}};

/// wyrand's step (Wang Yi): one addition from one number to the next, so that several are under
/// way.
class generator {
 public:
  generator(std::uint64_t seed, std::uint64_t below) : state_(seed), below_(below) {}
  std::uint64_t operator()() {
    state_ += 0xa0761d6478bd642fu;
    const __uint128_t product = static_cast<__uint128_t>(state_) * (state_ ^ 0xe7037ed1a0b428dbu);
    const auto mixed =
        static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
    return (mixed >> 32) * below_ >> 32;
  }

 private:
  std::uint64_t state_;
  std::uint64_t below_;
};

/// What the words say.
struct plan {
  double budget_ms = 200;
  bool floor = false;
  std::string only_case;
  std::string only_method;
  std::vector<int> tasks;

  [[nodiscard]] bool has(const experiment& what) const {
    return only_case.empty() || only_case == what.name;
  }
  [[nodiscard]] bool has(const std::string& method) const {
    return only_method.empty() || only_method == method;
  }
};

inline plan read_plan(int argc, char** argv) {
  plan p;
  p.tasks = micro::numbers(argc, argv, "tasks", {1, 8});
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = word.substr(word.find('=') + 1);
    if (word == "floor") {
      p.floor = true;
    } else if (word.starts_with("budget_ms=")) {
      p.budget_ms = std::atof(value.c_str());
    } else if (word.starts_with("case=")) {
      p.only_case = value;
    } else if (word.starts_with("method=")) {
      p.only_method = value;
    }
  }
  if (p.floor) {
    p.budget_ms = std::min(p.budget_ms, 20.0);
  }
  return p;
}

}  // namespace histogram

#endif
