// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/mutex.hpp"

#include <cerrno>
#include <cstring>

#include "abi/threads/moment.hpp"
#include "abi/threads/mutex_between.hpp"
#include "abi/threads/patience.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/refuse.hpp"
#include "sinew/base/check.hpp"

namespace sinew::threads {
namespace {

constexpr std::uint32_t free_word = 0;
constexpr std::uint32_t held_word = 1;
constexpr std::uint32_t waited_word = 2;

}  // namespace

void mutex::own() noexcept {
  SINEW_EXPECT(word.load(std::memory_order_relaxed) != free_word && depth == 0);
  if (has_owner()) {
    owner.store(::pthread_self(), std::memory_order_relaxed);
  }
}

int mutex::try_lock() noexcept {
  if (is_special()) [[unlikely]] {
    return shared() ? try_lock_between(of_glibc()) : taken_robust(try_lock_private());
  }
  return try_lock_private();
}

int mutex::lock(moment until) noexcept {
  if (is_special()) [[unlikely]] {
    return shared() ? lock_between(of_glibc(), until) : taken_robust(lock_private(until));
  }
  return lock_private(until);
}

int mutex::unlock() noexcept {
  if (is_special()) [[unlikely]] {
    return shared() ? unlock_between(of_glibc()) : unlock_robust();
  }
  return unlock_private();
}

inline int mutex::try_lock_private() noexcept {
  if (type() == PTHREAD_MUTEX_RECURSIVE && mine_already()) {
    return ++depth == 0 ? (--depth, EAGAIN) : 0;
  }
  std::uint32_t expected = free_word;
  if (!word.compare_exchange_strong(expected, held_word, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
    return EBUSY;
  }
  own();
  return 0;
}

inline int mutex::lock_private(moment until) noexcept {
  if (const int code = try_lock_private(); code != EBUSY) {
    return code;
  }
  if (type() == PTHREAD_MUTEX_ERRORCHECK && mine_already()) {
    return EDEADLK;
  }
  // From here the word is left at `waited`, so whoever leaves releases one of us.
  while (word.exchange(waited_word, std::memory_order_seq_cst) != free_word) {
    if (wait_while(word, waited_word, "pthread_mutex_lock", until) == woken::timed_out) {
      return ETIMEDOUT;
    }
  }
  own();
  return 0;
}

int mutex::unlock_private() noexcept {
  if (has_owner()) {
    if (!mine_already()) {
      return EPERM;
    }
    if (depth > 0) {
      SINEW_ASSERT(type() == PTHREAD_MUTEX_RECURSIVE);
      --depth;
      return 0;
    }
    owner.store(pthread_t{}, std::memory_order_relaxed);
  }
  // Afterwards the mutex may be gone: only its address is used.
  if (word.exchange(free_word, std::memory_order_seq_cst) == waited_word) [[unlikely]] {
    release(this, 1);
  }
  return 0;
}

}  // namespace sinew::threads

using sinew::threads::mutex;

extern "C" {

int pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* attributes) noexcept {
  int shared = PTHREAD_PROCESS_PRIVATE;
  int type = PTHREAD_MUTEX_DEFAULT;
  int robust = PTHREAD_MUTEX_STALLED;
  if (attributes != nullptr) {
    ::pthread_mutexattr_getpshared(attributes, &shared);
    ::pthread_mutexattr_gettype(attributes, &type);
    ::pthread_mutexattr_getrobust(attributes, &robust);
  }
  if (shared == PTHREAD_PROCESS_SHARED) {
    const int code = sinew::threads::real().mutex_init(m, attributes);
    m->__data.__kind &= ~sinew::threads::priority_kinds;  // all fibers have the same one
    return code;
  }
  std::memset(m, 0, sizeof(*m));
  mutex::of(m).kind =
      static_cast<std::uint32_t>(type) | (robust == PTHREAD_MUTEX_ROBUST ? mutex::robust_kind : 0);
  return 0;
}

int pthread_mutex_destroy(pthread_mutex_t* m) noexcept {
  if (mutex::of(m).shared()) {
    return sinew::threads::real().mutex_destroy(m);
  }
  return mutex::of(m).word.load(std::memory_order_relaxed) == 0 ? 0 : EBUSY;
}

int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  sinew::threads::be_fair();
  return mutex::of(m).lock(sinew::threads::never);
}

int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  const int code = mutex::of(m).try_lock();
  if (code == EBUSY) {
    sinew::threads::let_others_run();  // the caller may be asking in a loop
  }
  return code;
}

int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const timespec* until) noexcept {
  if (!sinew::threads::is_clock(clock)) {
    return EINVAL;
  }
  sinew::threads::be_fair();
  const int code = mutex::of(m).try_lock();
  if (code != EBUSY) {
    return code;
  }
  return sinew::threads::is_time(*until)
             ? mutex::of(m).lock(sinew::threads::moment_of(*until, clock))
             : EINVAL;
}

int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) noexcept {
  return pthread_mutex_clocklock(m, CLOCK_REALTIME, until);
}

int pthread_mutex_unlock(pthread_mutex_t* m) noexcept { return mutex::of(m).unlock(); }

int pthread_mutex_consistent(pthread_mutex_t* m) noexcept {
  return mutex::of(m).shared() ? sinew::threads::repair_between(*m) : mutex::of(m).repaired();
}

/// All fibers have the same priority, so a holder has inherited whatever a waiter could give it. A
/// ceiling above it they cannot keep.
int pthread_mutexattr_setprotocol(pthread_mutexattr_t* attributes, int protocol) noexcept {
  return protocol == PTHREAD_PRIO_PROTECT
             ? sinew::threads::refused("a mutex with a priority ceiling", ENOTSUP)
             : sinew::threads::real().setprotocol(attributes, protocol);
}

}  // extern "C"
