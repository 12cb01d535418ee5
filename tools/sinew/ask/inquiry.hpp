// SPDX-License-Identifier: BSD-3-Clause
// A question to a running job, where its ranks stand, from the question until all have answered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sinew/ask/roll_call.hpp"

namespace sinew::tool {

/// Several may ask at once: they get the same answer. The launcher's thread only. Cold.
class inquiry {
 public:
  using answer = std::function<void(const roll& found)>;

  /// `whom`: ranks that run. True: they have to be asked now; false: they have been already.
  [[nodiscard]] bool begin(std::set<int> whom, answer then);
  /// These have been asked, too, what they wait for: who does not tell it soon does not wait.
  void expect_waits(std::set<int> of) { not_told_ = std::move(of); }
  void take(int rank, rank_stacks found);
  void take(int rank, const boot::wait_report& wait);
  /// It has ended, and will not answer.
  void leave(int rank);
  /// Who has not answered when the time is up is told as such. When to look again, by now_ns();
  /// INT64_MAX: nobody has asked.
  [[nodiscard]] std::int64_t deadline_ns() const noexcept;
  void check(std::int64_t now);

 private:
  void end_if_all_have_answered();

  std::set<int> missing_;
  std::set<int> not_told_;  ///< what they wait for
  roll found_;
  std::vector<answer> askers_;
  std::int64_t deadline_ns_ = INT64_MAX;
  std::int64_t waits_until_ns_ = INT64_MAX;
};

}  // namespace sinew::tool
