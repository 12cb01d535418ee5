#include <pthread.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "abi/threads/moment.hpp"
#include "abi/threads/parking_lot.hpp"
#include "abi/threads/patience.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/sleep.hpp"

namespace sinew::threads {
namespace {

/// What a pthread_rwlock_t holds under us. All zero but the flags is free: the initialisers.
struct rwlock {
  static constexpr std::uint32_t writer = 1U << 31;
  static constexpr std::uint32_t waited = 1U << 30;  ///< somebody may stand in the queue
  static constexpr std::uint32_t readers = waited - 1;

  /// Taking is an acquire, leaving a release; sequentially consistent where a waiter may be left.
  std::atomic<std::uint32_t> word;
  std::uint32_t unused;
  std::atomic<pthread_t> owner;  ///< as of a mutex
  std::uint64_t unused_too;
  std::uint32_t pad;
  int shared;  ///< glibc's field, not 0 between processes
  std::uint64_t more_unused[2];
  std::uint32_t flags;  ///< where glibc's initialisers put it: PTHREAD_RWLOCK_PREFER_*

  static rwlock& of(pthread_rwlock_t* l) noexcept { return *reinterpret_cast<rwlock*>(l); }
  pthread_rwlock_t* theirs() noexcept { return reinterpret_cast<pthread_rwlock_t*>(this); }

  /// Readers pass waiting writers, as with glibc, unless the lock was made to prefer writers.
  bool may_read(std::uint32_t now) const noexcept {
    return (now & writer) == 0 &&
           (flags != PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP || (now & waited) == 0);
  }

  int try_read() noexcept {
    std::uint32_t now = word.load(std::memory_order_relaxed);
    while (may_read(now)) {
      if ((now & readers) == readers) {
        return EAGAIN;
      }
      if (word.compare_exchange_weak(now, now + 1, std::memory_order_acquire)) {
        return 0;
      }
    }
    return EBUSY;
  }

  int try_write() noexcept {
    std::uint32_t now = word.load(std::memory_order_relaxed);
    while ((now & ~waited) == 0) {
      if (word.compare_exchange_weak(now, now | writer, std::memory_order_acquire)) {
        owner.store(::pthread_self(), std::memory_order_relaxed);
        return 0;
      }
    }
    return EBUSY;
  }

  int lock(int (rwlock::*attempt)() noexcept, const char* why, moment until) noexcept {
    for (;;) {
      if (const int code = (this->*attempt)(); code != EBUSY) {
        return code;
      }
      std::uint32_t now = word.load(std::memory_order_relaxed);
      if ((now & writer) != 0 && owner.load(std::memory_order_relaxed) == ::pthread_self()) {
        return EDEADLK;
      }
      // A free lock is never marked as waited for: unlock() clears the mark.
      if (now == 0 || ((now & waited) == 0 && !word.compare_exchange_strong(
                                                  now, now | waited, std::memory_order_seq_cst))) {
        continue;
      }
      if (wait_while(word, now | waited, why, until) == woken::timed_out) {
        return ETIMEDOUT;
      }
    }
  }

  int unlock() noexcept {
    std::uint32_t now = word.load(std::memory_order_relaxed);
    std::uint32_t next;
    do {
      const std::uint32_t left = (now & writer) != 0 ? 0 : (now & readers) - 1;
      next = left == 0 ? 0 : left | (now & waited);
      if ((now & writer) != 0) {
        owner.store(pthread_t{}, std::memory_order_relaxed);
      }
    } while (!word.compare_exchange_weak(now, next, std::memory_order_seq_cst));
    if (next == 0 && (now & waited) != 0) {
      release(this, all_of_them);  // who finds it taken queues again
    }
    return 0;
  }
};
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
  rwlock& it = rwlock::of(l);
  return it.shared != 0 ? lock_shared([l] { return real().rwlock_tryrdlock(l); }, until)
                        : it.lock(&rwlock::try_read, "pthread_rwlock_rdlock", until);
}

int write_lock(pthread_rwlock_t* l, moment until) noexcept {
  be_fair();
  rwlock& it = rwlock::of(l);
  return it.shared != 0 ? lock_shared([l] { return real().rwlock_trywrlock(l); }, until)
                        : it.lock(&rwlock::try_write, "pthread_rwlock_wrlock", until);
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
  return tried(rwlock::of(l).shared != 0 ? real().rwlock_tryrdlock(l) : rwlock::of(l).try_read());
}

int pthread_rwlock_trywrlock(pthread_rwlock_t* l) noexcept {
  return tried(rwlock::of(l).shared != 0 ? real().rwlock_trywrlock(l) : rwlock::of(l).try_write());
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
  return rwlock::of(l).shared != 0 ? real().rwlock_unlock(l) : rwlock::of(l).unlock();
}

}  // extern "C"
