// SPDX-License-Identifier: BSD-3-Clause
// Ranks of random programs that are late at random.
#pragma once

#include <sched.h>

#include "sinew/base/clock.hpp"
#include "sinew/base/random.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::test {

/// Mostly nothing; else gives the processor away, makes progress, or computes for up to 50 us.
inline void pause_at_random(random_generator& random, core::runtime& runtime) {
  switch (random.below(8)) {
    case 0:
      sched_yield();
      break;
    case 1:
      for (const std::int64_t end = now_ns() + random.between(0, 50'000); now_ns() < end;) {
      }
      break;
    case 2:
    case 3:
      (void)runtime.poll();
      break;
    default:
      break;
  }
}

}  // namespace sinew::test
