// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "abi/threads/moment.hpp"
#include "abi/threads/parking_lot.hpp"
#include "abi/threads/patience.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/rwlock_core.hpp"
#include "abi/threads/sleep.hpp"

namespace sinew::threads {
namespace {

struct parking {
  static void step() noexcept {}
  static pthread_t self() noexcept { return ::pthread_self(); }
  static woken wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                          const char* why, moment until) noexcept {
    return threads::wait_while(word, value, why, until);
  }
  static void release_all(const void* address) noexcept { (void)release(address, all_of_them); }
};
using rwlock = rwlock_core<parking>;

rwlock& of(pthread_rwlock_t* l) noexcept { return *reinterpret_cast<rwlock*>(l); }

static_assert(sizeof(rwlock) <= sizeof(pthread_rwlock_t));
static_assert(offsetof(rwlock, flags) == offsetof(pthread_rwlock_t, __data.__flags));
static_assert(offsetof(rwlock, shared) == offsetof(pthread_rwlock_t, __data.__shared));

/// Between processes: by glibc's own functions, looked at again and again (see mutex.cpp).
template <class Try>
int lock_shared(Try attempt, moment until) noexcept {
  for (backoff pause;; pause.wait()) {
    const int code = attempt();
    if (code != EBUSY) {
      return code;
    }
    if (pause.now() >= until) {
      return ETIMEDOUT;
    }
  }
}

int read_lock(pthread_rwlock_t* l, moment until) noexcept {
  be_fair();
  rwlock& it = of(l);
  return it.shared != 0 ? lock_shared([l] { return real().rwlock_tryrdlock(l); }, until)
                        : it.read("pthread_rwlock_rdlock", until);
}

int write_lock(pthread_rwlock_t* l, moment until) noexcept {
  be_fair();
  rwlock& it = of(l);
  return it.shared != 0 ? lock_shared([l] { return real().rwlock_trywrlock(l); }, until)
                        : it.write("pthread_rwlock_wrlock", until);
}

int tried(int code) noexcept {
  if (code == EBUSY) {
    let_others_run();  // the caller may be asking in a loop
  }
  return code;
}

}  // namespace
}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int pthread_rwlock_init(pthread_rwlock_t* l, const pthread_rwlockattr_t* attributes) noexcept {
  return real().rwlock_init(l, attributes);  // all zero but what we use as it does
}

int pthread_rwlock_destroy(pthread_rwlock_t*) noexcept { return 0; }

int pthread_rwlock_rdlock(pthread_rwlock_t* l) noexcept { return read_lock(l, never); }
int pthread_rwlock_wrlock(pthread_rwlock_t* l) noexcept { return write_lock(l, never); }

int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) noexcept {
  return tried(of(l).shared != 0 ? real().rwlock_tryrdlock(l) : of(l).try_read());
}

int pthread_rwlock_trywrlock(pthread_rwlock_t* l) noexcept {
  return tried(of(l).shared != 0 ? real().rwlock_trywrlock(l) : of(l).try_write());
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t clock,
                               const timespec* until) noexcept {
  return is_clock(clock) && is_time(*until) ? read_lock(l, moment_of(*until, clock)) : EINVAL;
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t clock,
                               const timespec* until) noexcept {
  return is_clock(clock) && is_time(*until) ? write_lock(l, moment_of(*until, clock)) : EINVAL;
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return pthread_rwlock_clockrdlock(l, CLOCK_REALTIME, until);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return pthread_rwlock_clockwrlock(l, CLOCK_REALTIME, until);
}

int pthread_rwlock_unlock(pthread_rwlock_t* l) noexcept {
  return of(l).shared != 0 ? real().rwlock_unlock(l) : of(l).unlock();
}

}  // extern "C"
