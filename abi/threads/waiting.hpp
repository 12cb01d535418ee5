// SPDX-License-Identifier: BSD-3-Clause
// How a call that might stop its worker waits: it looks, lets others run, and looks again.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>

#include "abi/threads/moment.hpp"
#include "abi/threads/monitor.hpp"
#include "abi/threads/signals.hpp"
#include "abi/threads/sleep.hpp"
#include "abi/threads/start.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/fiber.hpp"

namespace sinew::threads {

/// glibc's own function. Kept by the callers in static objects; who finds it at the same time as
/// another finds the same.
template <class Function>
Function* real_call(const char* name) noexcept {
  void* const found = ::dlsym(RTLD_NEXT, name);
  SINEW_ENSURE(found != nullptr);
  return reinterpret_cast<Function*>(found);
}

inline bool is_fiber() noexcept {
  come_back();
  return fiber::self() != nullptr;
}

/// Who is the only thread loses nothing by waiting in the kernel, unless it blocks signals: the
/// kernel, which does not know that, would end the call for one of them.
inline bool may_block() noexcept { return !is_fiber() || (alone() && !holds_signals_back()); }

/// True when the descriptor is ready for `events`, or is none to be waited for; false, with errno,
/// if the handler of a signal has ended the wait.
[[nodiscard]] bool await(int descriptor, short events);

/// Until `look`, which must not wait, answers something else than `nothing`. Handlers of signals
/// run between two looks; those that are worse than `tolerated` end it with answer `interrupted`.
template <class Answer, class Look>
Answer repeat(moment until, Answer nothing, Look look, handled tolerated, Answer interrupted) {
  for (backoff pause;; pause.wait()) {
    ::pthread_testcancel();
    const Answer answer = look();
    if (answer != nothing || pause.now() >= until) {
      return answer;
    }
    if (take_signals() > tolerated) {
      errno = EINTR;
      return interrupted;
    }
  }
}

inline moment end_in_ms(int timeout_ms) noexcept {
  return timeout_ms < 0 ? never : moment_in({timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L});
}

inline moment end_of(const timespec* length) noexcept {
  return length == nullptr ? never : moment_in(*length);
}

}  // namespace sinew::threads
