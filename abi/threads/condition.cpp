#include <pthread.h>

#include <cerrno>
#include <cstring>

#include "abi/threads/moment.hpp"
#include "abi/threads/mutex.hpp"
#include "abi/threads/parking_lot.hpp"
#include "abi/threads/refuse.hpp"
#include "abi/threads/signals.hpp"

namespace sinew::threads {
namespace {

/// What a pthread_cond_t holds under us. All zero: glibc's static initialiser.
struct condition {
  /// Places in the parking lot. Changed under the queue's lock. A signaller who holds the mutex
  /// sees every waiter that has left it; one who does not may miss one, as ever: relaxed.
  std::atomic<std::uint32_t> waiters;
  clockid_t clock;  ///< CLOCK_REALTIME is 0

  static condition& of(pthread_cond_t* c) noexcept { return *reinterpret_cast<condition*>(c); }

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

  void signal(unsigned most) noexcept {
    if (waiters.load(std::memory_order_relaxed) != 0) {
      release(this, most);
    }
  }
};
static_assert(sizeof(condition) <= sizeof(pthread_cond_t));

}  // namespace
}  // namespace sinew::threads

using sinew::threads::condition;
using sinew::threads::mutex;

extern "C" {

int pthread_cond_init(pthread_cond_t* c, const pthread_condattr_t* attributes) noexcept {
  std::memset(c, 0, sizeof(*c));
  if (attributes != nullptr) {
    ::pthread_condattr_getclock(attributes, &condition::of(c).clock);
  }
  return 0;
}

int pthread_cond_destroy(pthread_cond_t*) noexcept { return 0; }

int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  return condition::of(c).wait(mutex::of(m), sinew::threads::never);
}

int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                           const timespec* until) {
  if (!sinew::threads::is_clock(clock) || !sinew::threads::is_time(*until)) {
    return EINVAL;
  }
  return condition::of(c).wait(mutex::of(m), sinew::threads::moment_of(*until, clock));
}

int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  return pthread_cond_clockwait(c, m, condition::of(c).clock, until);
}

int pthread_cond_signal(pthread_cond_t* c) noexcept {
  condition::of(c).signal(1);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  condition::of(c).signal(sinew::threads::all_of_them);
  return 0;
}

int pthread_condattr_setpshared(pthread_condattr_t*, int shared) noexcept {
  if (shared != PTHREAD_PROCESS_PRIVATE && shared != PTHREAD_PROCESS_SHARED) {
    return EINVAL;
  }
  return shared == PTHREAD_PROCESS_PRIVATE
             ? 0
             : sinew::threads::refused("a condition shared by processes", ENOTSUP);
}

}  // extern "C"
