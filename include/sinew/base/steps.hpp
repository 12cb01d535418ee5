// SPDX-License-Identifier: BSD-3-Clause
// How concurrent code meets other threads, as a template argument: production takes real_steps, an
// explorer in the tests puts its own scheduler in its place.
#pragma once

#include <chrono>
#include <thread>

#include "sinew/base/spin.hpp"

namespace sinew {

struct real_steps {
  /// Announces an access to shared state. Hot.
  static void step() noexcept {}

  /// Somebody else must move before the caller can; `attempt` counts up from 0. Spins, then yields
  /// (the other may have lost its processor), then sleeps (it may have a lower priority). For waits
  /// that are over after a few dozen instructions of the other. Warm.
  static void wait(unsigned attempt) noexcept {
    constexpr unsigned spins = 50;
    constexpr unsigned yields = 200;
    if (attempt < spins) {
      cpu_relax();
    } else if (attempt < spins + yields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
};

}  // namespace sinew
