// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/inquiry.hpp"

#include <utility>

#include "sinew/base/clock.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t patience_ns = 10 * second_ns;

}  // namespace

bool inquiry::begin(std::set<int> whom, answer then) {
  askers_.push_back(std::move(then));
  if (askers_.size() > 1) {
    return false;
  }
  missing_ = std::move(whom);
  found_.clear();
  deadline_ns_ = now_ns() + patience_ns;
  return true;
}

void inquiry::take(int rank, rank_stacks found) {
  if (missing_.erase(rank) != 0) {
    found_[rank] = std::move(found);
    end_if_all_have_answered();
  }
}

void inquiry::leave(int rank) {
  if (missing_.erase(rank) != 0) {
    end_if_all_have_answered();
  }
}

void inquiry::check(std::int64_t now) {
  if (askers_.empty() || (now < deadline_ns_ && !missing_.empty())) {
    return;
  }
  for (const int rank : std::exchange(missing_, {})) {
    found_[rank] = {"its host has not answered", {}};
  }
  end_if_all_have_answered();
}

void inquiry::end_if_all_have_answered() {
  if (!missing_.empty()) {
    return;
  }
  deadline_ns_ = INT64_MAX;
  for (const answer& each : std::exchange(askers_, {})) {
    each(found_);
  }
}

}  // namespace sinew::tool
