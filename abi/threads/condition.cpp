// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "abi/threads/moment.hpp"
#include "abi/threads/mutex.hpp"
#include "abi/threads/mutex_between.hpp"
#include "abi/threads/parking_lot.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/signals.hpp"
#include "abi/threads/sleep.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::threads {
namespace {

/// What a pthread_cond_t holds under us. All zero: glibc's static initialiser.
struct condition {
  /// Places in the parking lot. Changed under the queue's lock. A signaller who holds the mutex
  /// sees every waiter that has left it; one who does not may miss one, as ever: relaxed.
  std::atomic<std::uint32_t> waiters;
  clockid_t clock;  ///< CLOCK_REALTIME is 0

  /// Between processes: glibc's own. It marks those with a bit of a word that ours leave zero.
  static bool is_shared(const pthread_cond_t* c) noexcept { return (c->__data.__wrefs & 1U) != 0; }
  static condition& of(pthread_cond_t* c) noexcept { return *reinterpret_cast<condition*>(c); }
  static clockid_t clock_of(pthread_cond_t& c) noexcept {
    constexpr unsigned monotonic = 2;  // likewise
    if (is_shared(&c)) {
      return (c.__data.__wrefs & monotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    }
    return of(&c).clock;
  }

  /// A cancellation point, so not noexcept: cancellation unwinds the stack.
  int wait(mutex& m, moment until) {
    ::pthread_testcancel();
    place here(this, "pthread_cond_wait");
    here.enter(&waiters);  // before the mutex is left, so that no signal is missed
    if (const int code = m.unlock(); code != 0) {
      (void)here.wait(0);
      return code;
    }
    const woken why = here.wait(until);
    if (why == woken::interrupted) {
      (void)take_signals();
    }
    if (const int code = m.lock(never); code != 0) {
      return code;
    }
    if (why == woken::interrupted) {
      ::pthread_testcancel();  // if it returns, the caller was woken for nothing
    }
    return why == woken::timed_out ? ETIMEDOUT : 0;
  }

  /// One between processes, with a mutex that glibc's own wait cannot leave and take: of this
  /// process alone, or one that knows its owner. Signals are not heard then; the caller, which
  /// looks again as callers must, is woken now and then.
  static int wait_unheard(mutex& m, moment until) {
    constexpr moment look_again_ns = 500'000;
    ::pthread_testcancel();
    if (const int code = m.unlock(); code != 0) {
      return code;
    }
    const moment now = static_cast<moment>(now_ns());
    const woken why = wait_interruptibly("pthread_cond_wait", std::min(until, now + look_again_ns));
    if (why == woken::interrupted) {
      (void)take_signals();
    }
    if (const int code = m.lock(never); code != 0) {
      return code;
    }
    if (why == woken::interrupted) {
      ::pthread_testcancel();
    }
    return until <= static_cast<moment>(now_ns()) ? ETIMEDOUT : 0;
  }
  static bool glibc_can_wait_with(mutex& m) noexcept {
    return m.shared() && !knows_owner(m.of_glibc());
  }

  void signal(unsigned most) noexcept {
    if (waiters.load(std::memory_order_relaxed) != 0) {
      release(this, most);
    }
  }
};
static_assert(sizeof(condition) <= offsetof(pthread_cond_t, __data.__wrefs));

}  // namespace
}  // namespace sinew::threads

using sinew::threads::condition;
using sinew::threads::mutex;
using sinew::threads::real;

extern "C" {

int pthread_cond_init(pthread_cond_t* c, const pthread_condattr_t* attributes) noexcept {
  std::memset(c, 0, sizeof(*c));
  if (attributes != nullptr) {
    int shared = PTHREAD_PROCESS_PRIVATE;
    ::pthread_condattr_getpshared(attributes, &shared);
    if (shared == PTHREAD_PROCESS_SHARED) {
      return real().cond_init(c, attributes);
    }
    ::pthread_condattr_getclock(attributes, &condition::of(c).clock);
  }
  return 0;
}

int pthread_cond_destroy(pthread_cond_t* c) noexcept {
  return condition::is_shared(c) ? real().cond_destroy(c) : 0;
}

int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  if (!condition::is_shared(c)) [[likely]] {
    return condition::of(c).wait(mutex::of(m), sinew::threads::never);
  }
  return condition::glibc_can_wait_with(mutex::of(m))
             ? real().cond_wait(c, m)
             : condition::wait_unheard(mutex::of(m), sinew::threads::never);
}

int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                           const timespec* until) {
  if (!sinew::threads::is_clock(clock) || !sinew::threads::is_time(*until)) {
    return EINVAL;
  }
  const auto end = sinew::threads::moment_of(*until, clock);
  if (!condition::is_shared(c)) [[likely]] {
    return condition::of(c).wait(mutex::of(m), end);
  }
  return condition::glibc_can_wait_with(mutex::of(m)) ? real().cond_clockwait(c, m, clock, until)
                                                      : condition::wait_unheard(mutex::of(m), end);
}

int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  return pthread_cond_clockwait(c, m, condition::clock_of(*c), until);
}

int pthread_cond_signal(pthread_cond_t* c) noexcept {
  if (condition::is_shared(c)) [[unlikely]] {
    return real().cond_signal(c);
  }
  condition::of(c).signal(1);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  if (condition::is_shared(c)) [[unlikely]] {
    return real().cond_broadcast(c);
  }
  condition::of(c).signal(sinew::threads::all_of_them);
  return 0;
}

}  // extern "C"
