// SPDX-License-Identifier: BSD-3-Clause
// Locks for parallel_engine.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "sinew/base/steps.hpp"

namespace sinew::match::test {

/// Meets other threads as `Steps` says.
template <class Steps>
class lock_of {
 public:
  void acquire() noexcept {
    for (unsigned attempt = 0; !try_acquire(); ++attempt) {
      Steps::wait(attempt);
    }
  }
  [[nodiscard]] bool try_acquire() noexcept {
    Steps::step();
    return !held_.exchange(true, std::memory_order_acquire);
  }
  void release() noexcept {
    Steps::step();
    held_.store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool> held_{false};
};

/// Of one thread; can be told to say that somebody else has it.
struct refusing_lock {
  inline static bool refuses = false;
  bool held = false;
  [[nodiscard]] bool try_acquire() noexcept { return !refuses && !std::exchange(held, true); }
  void acquire() noexcept { EXPECT_FALSE(std::exchange(held, true)) << "held twice"; }
  void release() noexcept { EXPECT_TRUE(std::exchange(held, false)) << "not held"; }
};
}  // namespace sinew::match::test
