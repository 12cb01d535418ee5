// SPDX-License-Identifier: BSD-3-Clause
// A time that passes as a test wants it to.
#pragma once

#include <atomic>

#include "sinew/base/clock.hpp"

namespace sinew::test {

/// Moves on by `step` at each reading, and by what is slept.
class time_by_steps final : public time_source {
 public:
  explicit time_by_steps(std::int64_t step_ns) noexcept : step_(step_ns) {}
  std::int64_t now_ns() noexcept override {
    return now_.fetch_add(step_, std::memory_order_relaxed) + step_;
  }
  void sleep_ns(std::int64_t length) noexcept override {
    now_.fetch_add(length, std::memory_order_relaxed);
  }

 private:
  const std::int64_t step_;
  std::atomic<std::int64_t> now_{second_ns};
};

}  // namespace sinew::test
