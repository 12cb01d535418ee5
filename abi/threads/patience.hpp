// SPDX-License-Identifier: BSD-3-Clause
// Programs rely on being interrupted: a thread that locks, looks and unlocks until another one has
// done its part would never let a fiber do it. So calls that might have waited count, and now and
// then let the others run.
#pragma once

#include <cerrno>

#include "abi/threads/monitor.hpp"
#include "abi/threads/record.hpp"
#include "abi/threads/signals.hpp"
#include "sinew/fiber/fiber.hpp"

namespace sinew::threads {

/// The others run, if there are any; errno stays.
inline bool let_others_run() {
  const int error = errno;
  come_back();
  const bool others = fiber::yield();
  (void)take_signals();
  errno = error;
  return others;
}

/// After a call that succeeded without waiting.
inline void be_fair() {
  constexpr std::uint32_t patience = 200;
  if (++mine.calls_since_yield >= patience) [[unlikely]] {
    mine.calls_since_yield = 0;
    (void)let_others_run();
  }
}

}  // namespace sinew::threads
