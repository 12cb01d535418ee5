// SPDX-License-Identifier: BSD-3-Clause
// From the program's clocks to ours.
#pragma once

#include <time.h>

#include "abi/threads/parking_lot.hpp"

namespace sinew::threads {

[[nodiscard]] inline bool is_time(const timespec& t) noexcept {
  return t.tv_nsec >= 0 && t.tv_nsec < 1'000'000'000;
}

[[nodiscard]] inline bool is_clock(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/// The moment at which `clock` will show `t`, if nobody sets that clock meanwhile.
[[nodiscard]] moment moment_of(const timespec& t, clockid_t clock) noexcept;

/// The moment after this length of time; far beyond any program's end if it is longer than that.
[[nodiscard]] moment moment_in(const timespec& length) noexcept;

}  // namespace sinew::threads
