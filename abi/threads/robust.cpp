// SPDX-License-Identifier: BSD-3-Clause
// Robust mutexes: who ends while it holds one leaves it to the next, who is told so and may repair
// what it protects (POSIX.1-2017, pthread_mutexattr_setrobust). Each thread has a list of those
// that it holds. Only within a process: between processes see mutex_between.cpp.
#include <cerrno>

#include "abi/threads/mutex.hpp"
#include "abi/threads/record.hpp"
#include "sinew/base/check.hpp"

namespace sinew::threads {

int mutex::taken_robust(int code) noexcept {
  SINEW_EXPECT(robust());
  if (code != 0 || depth > 0) {
    return code;
  }
  if (state == lost) {
    (void)unlock_private();
    return ENOTRECOVERABLE;
  }
  SINEW_ASSERT(mine_already() && mine.robust_held != this);
  previous_held = nullptr;
  next_held = mine.robust_held;
  if (next_held != nullptr) {
    next_held->previous_held = this;
  }
  mine.robust_held = this;
  return state == inconsistent ? EOWNERDEAD : 0;
}

int mutex::unlock_robust() noexcept {
  SINEW_EXPECT(robust());
  if (!mine_already()) {
    return EPERM;
  }
  if (depth == 0) {
    state = state == consistent ? consistent : lost;
    forget();
  }
  return unlock_private();
}

void mutex::forget() noexcept {
  SINEW_EXPECT((previous_held != nullptr ? previous_held->next_held : mine.robust_held) == this);
  SINEW_EXPECT(next_held == nullptr || next_held->previous_held == this);
  (previous_held != nullptr ? previous_held->next_held : mine.robust_held) = next_held;
  if (next_held != nullptr) {
    next_held->previous_held = previous_held;
  }
  next_held = previous_held = nullptr;
}

int mutex::repaired() noexcept {
  if (!robust() || !mine_already() || state != inconsistent) {
    return EINVAL;
  }
  state = consistent;
  return 0;
}

void leave_robust_mutexes() noexcept {
  while (mutex* const m = mine.robust_held) {
    SINEW_ASSERT(m->robust() && m->mine_already());
    m->state = mutex::inconsistent;
    m->depth = 0;
    m->forget();
    (void)m->unlock_private();
  }
}

}  // namespace sinew::threads
