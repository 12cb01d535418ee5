// SPDX-License-Identifier: BSD-3-Clause
// Waits of threads for each other until a moment, which the program has taken from its virtual
// clock: they last really, until the real moment as far away.
#include <pthread.h>
#include <semaphore.h>

#include <cerrno>

#include "abi/clock/clock.hpp"
#include "sinew/base/clock_follower.hpp"

extern "C" int sinew_clock_real(clockid_t clock, timespec* now) noexcept;

namespace sinew::clock {
namespace {

constinit real_function real_sem_timedwait{"sem_timedwait"};
constinit real_function real_sem_clockwait{"sem_clockwait"};
constinit real_function real_pthread_cond_timedwait{"pthread_cond_timedwait"};
constinit real_function real_pthread_cond_clockwait{"pthread_cond_clockwait"};
constinit real_function real_pthread_mutex_timedlock{"pthread_mutex_timedlock"};
constinit real_function real_pthread_mutex_clocklock{"pthread_mutex_clocklock"};
constinit real_function real_pthread_rwlock_timedrdlock{"pthread_rwlock_timedrdlock"};
constinit real_function real_pthread_rwlock_timedwrlock{"pthread_rwlock_timedwrlock"};
constinit real_function real_pthread_rwlock_clockrdlock{"pthread_rwlock_clockrdlock"};
constinit real_function real_pthread_rwlock_clockwrlock{"pthread_rwlock_clockwrlock"};

/// `call` is the real one, with the real moment; it returns an error's number.
template <class Call>
int until(clockid_t clock, const timespec& moment, const Call& call) {
  const kind of = kind_of(clock);
  if (of == kind::other || !is_valid(moment)) {
    return call(&moment);
  }
  const std::int64_t since = now_ns();
  const std::int64_t left = moment_ns(moment) - static_cast<std::int64_t>(of) - since;
  timespec here{};
  sinew_clock_real(clock, &here);
  const timespec then = timespec_of(moment_ns(here) + std::max<std::int64_t>(left, 0));
  const int code = call(&then);
  if (code == ETIMEDOUT && left > 0) {
    has_waited(since, left);
  }
  return code;
}

/// A condition knows its clock, and does not tell. No job lasts until the other clock's moments.
clockid_t clock_of(const timespec& moment) noexcept {
  return moment_ns(moment) < static_cast<std::int64_t>(kind::date) / 2 ? CLOCK_MONOTONIC
                                                                       : CLOCK_REALTIME;
}

int by_errno(int code) noexcept {
  if (code == 0) {
    return 0;
  }
  errno = code;
  return -1;
}

}  // namespace
}  // namespace sinew::clock

extern "C" {

int sem_timedwait(sem_t* __restrict s, const timespec* __restrict moment) {
  using namespace sinew::clock;
  return by_errno(until(CLOCK_REALTIME, *moment, [=](const timespec* then) {
    return real_sem_timedwait(s, then) == 0 ? 0 : errno;
  }));
}

int sem_clockwait(sem_t* __restrict s, clockid_t clock, const timespec* __restrict moment) {
  using namespace sinew::clock;
  return by_errno(until(clock, *moment, [=](const timespec* then) {
    return real_sem_clockwait(s, clock, then) == 0 ? 0 : errno;
  }));
}

int pthread_cond_timedwait(pthread_cond_t* __restrict c, pthread_mutex_t* __restrict m,
                           const timespec* __restrict moment) {
  using namespace sinew::clock;
  return until(clock_of(*moment), *moment,
               [=](const timespec* then) { return real_pthread_cond_timedwait(c, m, then); });
}

int pthread_cond_clockwait(pthread_cond_t* __restrict c, pthread_mutex_t* __restrict m,
                           clockid_t clock, const timespec* __restrict moment) {
  using namespace sinew::clock;
  return until(clock, *moment, [=](const timespec* then) {
    return real_pthread_cond_clockwait(c, m, clock, then);
  });
}

int pthread_mutex_timedlock(pthread_mutex_t* __restrict m,
                            const timespec* __restrict moment) noexcept {
  using namespace sinew::clock;
  return until(CLOCK_REALTIME, *moment,
               [=](const timespec* then) { return real_pthread_mutex_timedlock(m, then); });
}

int pthread_mutex_clocklock(pthread_mutex_t* __restrict m, clockid_t clock,
                            const timespec* __restrict moment) noexcept {
  using namespace sinew::clock;
  return until(clock, *moment,
               [=](const timespec* then) { return real_pthread_mutex_clocklock(m, clock, then); });
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t* __restrict l,
                               const timespec* __restrict moment) noexcept {
  using namespace sinew::clock;
  return until(CLOCK_REALTIME, *moment,
               [=](const timespec* then) { return real_pthread_rwlock_timedrdlock(l, then); });
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t* __restrict l,
                               const timespec* __restrict moment) noexcept {
  using namespace sinew::clock;
  return until(CLOCK_REALTIME, *moment,
               [=](const timespec* then) { return real_pthread_rwlock_timedwrlock(l, then); });
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t* __restrict l, clockid_t clock,
                               const timespec* __restrict moment) noexcept {
  using namespace sinew::clock;
  return until(clock, *moment, [=](const timespec* then) {
    return real_pthread_rwlock_clockrdlock(l, clock, then);
  });
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t* __restrict l, clockid_t clock,
                               const timespec* __restrict moment) noexcept {
  using namespace sinew::clock;
  return until(clock, *moment, [=](const timespec* then) {
    return real_pthread_rwlock_clockwrlock(l, clock, then);
  });
}

}  // extern "C"
