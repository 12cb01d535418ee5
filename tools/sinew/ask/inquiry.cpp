// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/inquiry.hpp"

#include <algorithm>
#include <utility>

#include "sinew/base/clock.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t patience_ns = 10 * second_ns;
/// Who waits looks for questions every 10 ms; a rank that is stopped or has no processor does not.
constexpr std::int64_t patience_for_waits_ns = 300'000'000;

}  // namespace

bool inquiry::begin(std::set<int> whom, answer then) {
  askers_.push_back(std::move(then));
  if (askers_.size() > 1) {
    return false;
  }
  missing_ = std::move(whom);
  not_told_.clear();
  found_.clear();
  deadline_ns_ = now_ns() + patience_ns;
  waits_until_ns_ = INT64_MAX;
  return true;
}

void inquiry::take(int rank, rank_stacks found) {
  if (missing_.erase(rank) != 0) {
    static_cast<rank_stacks&>(found_[rank]) = std::move(found);
    end_if_all_have_answered();
  }
}

void inquiry::take(int rank, const boot::wait_report& wait) {
  if (not_told_.erase(rank) != 0) {
    found_[rank].wait = wait;
    end_if_all_have_answered();
  }
}

void inquiry::leave(int rank) {
  not_told_.erase(rank);
  if (missing_.erase(rank) != 0) {
    found_.erase(rank);
    end_if_all_have_answered();
  }
}

std::int64_t inquiry::deadline_ns() const noexcept {
  return missing_.empty() ? waits_until_ns_ : deadline_ns_;
}

void inquiry::check(std::int64_t now) {
  if (askers_.empty()) {
    return;
  }
  if (!missing_.empty() && now >= deadline_ns_) {
    for (const int rank : std::exchange(missing_, {})) {
      found_[rank].why_not = "its host has not answered";
    }
  }
  if (missing_.empty() && now >= waits_until_ns_) {
    not_told_.clear();
  }
  end_if_all_have_answered();
}

// Stacks take the launcher's time: what a rank has told meanwhile is read after them.
void inquiry::end_if_all_have_answered() {
  if (askers_.empty() || !missing_.empty()) {
    return;
  }
  if (!not_told_.empty()) {
    waits_until_ns_ = std::min(waits_until_ns_, now_ns() + patience_for_waits_ns);
    return;
  }
  deadline_ns_ = waits_until_ns_ = INT64_MAX;
  for (const answer& each : std::exchange(askers_, {})) {
    each(found_);
  }
}

}  // namespace sinew::tool
