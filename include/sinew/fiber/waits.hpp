// SPDX-License-Identifier: BSD-3-Clause
// How objects that fibers wait for do it, as a template argument: production takes real_waits, an
// explorer in the tests puts its own locks and sleepers in their place.
#pragma once

#include <atomic>
#include <cstddef>

#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

struct real_waits {
  using lock = spin_lock;
  using sleeper = sinew::fiber::sleeper;
  using list = sleeper_list;

  /// Which of several equal choices is looked at first: each of them from time to time.
  static std::size_t next_turn() noexcept {
    static constinit std::atomic<std::size_t> turn{0};
    return turn.fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace sinew::fiber
