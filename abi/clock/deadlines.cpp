// SPDX-License-Identifier: BSD-3-Clause
// Waits of threads for each other until a moment, which the program has taken from its virtual
// clock: they last really, until the real moment as far away.
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

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

constinit real_function<long> real_syscall{"syscall"};

/// A wait on a futex with a limit, as std::future has it.
long wait_on_futex(const long (&a)[6]) {
  long result = 0;
  const auto call = [&](const timespec* limit) {
    result =
        real_syscall(long{SYS_futex}, a[0], a[1], a[2], reinterpret_cast<long>(limit), a[4], a[5]);
    return result == 0 ? 0 : errno;
  };
  const auto& limit = *reinterpret_cast<const timespec*>(a[3]);
  if ((a[1] & FUTEX_CMD_MASK) != FUTEX_WAIT) {
    const bool by_date = (a[1] & FUTEX_CLOCK_REALTIME) != 0;
    const int code = until(by_date ? CLOCK_REALTIME : CLOCK_MONOTONIC, limit, call);
    errno = code == 0 ? errno : code;
  } else if (const std::int64_t since = now_ns(); call(&limit) == ETIMEDOUT) {
    has_waited(since, ns_of(limit));
    errno = ETIMEDOUT;
  }
  return result;
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

// It takes six arguments, however many there are: what is too many lies in the caller's frame.
long syscall(long number, ...) noexcept {
  using namespace sinew::clock;
  long a[6];
  va_list rest;
  va_start(rest, number);
  for (long& each : a) {
    each = va_arg(rest, long);
  }
  va_end(rest);
  const long operation = a[1] & FUTEX_CMD_MASK;
  if (number == SYS_futex && a[3] != 0 &&
      (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)) {
    return wait_on_futex(a);
  }
  return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

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
