// SPDX-License-Identifier: BSD-3-Clause
#include <semaphore.h>

#include <atomic>
#include <cerrno>

#include "abi/threads/moment.hpp"
#include "abi/threads/parking_lot.hpp"
#include "abi/threads/patience.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/signals.hpp"
#include "abi/threads/sleep.hpp"
#include "sinew/base/check.hpp"

namespace sinew::threads {
namespace {

/// As glibc's sem_init() makes it.
struct semaphore {
  /// The value in the low half, in the high one how many wait or are on their way: one word, so
  /// that who posts knows whom to release without a second look (the semaphore may be gone then).
  /// Posting is a release, taking an acquire.
  std::atomic<std::uint64_t> data;
  int shared;  ///< not 0 between processes, and for those of sem_open()

  static constexpr std::uint64_t one_waiter = std::uint64_t{1} << 32;
  static std::uint32_t value_in(std::uint64_t data) noexcept {
    return static_cast<std::uint32_t>(data);
  }
  static semaphore& of(sem_t* s) noexcept { return *reinterpret_cast<semaphore*>(s); }
  [[nodiscard]] const std::atomic<std::uint32_t>& value() const noexcept {
    const void* low = &data;  // little-endian
    return *static_cast<const std::atomic<std::uint32_t>*>(low);
  }

  /// `leave`: what else to take away.
  bool take(std::uint64_t leave = 0) noexcept {
    std::uint64_t now = data.load(std::memory_order_relaxed);
    while (value_in(now) != 0) {
      SINEW_ASSERT(now - value_in(now) >= leave);
      if (data.compare_exchange_weak(now, now - 1 - leave, std::memory_order_acquire)) {
        return true;
      }
    }
    return false;
  }
};
static_assert(sizeof(semaphore) <= sizeof(sem_t));

int fail_with(int code) noexcept {
  errno = code;
  return -1;
}

/// Between processes: by glibc's own functions, looked at again and again (see mutex.cpp).
int wait_shared(sem_t* s, moment until) {
  for (backoff pause;; pause.wait()) {
    ::pthread_testcancel();
    if (real().sem_trywait(s) == 0) {
      return 0;
    }
    if (pause.now() >= until) {
      return fail_with(ETIMEDOUT);
    }
  }
}

/// A cancellation point.
int wait(sem_t* s, moment until) {
  ::pthread_testcancel();
  semaphore& it = semaphore::of(s);
  if (it.shared != 0) {
    return wait_shared(s, until);
  }
  if (it.take()) {
    be_fair();
    return 0;
  }
  struct waiter {  // also when cancellation unwinds
    semaphore* at;
    explicit waiter(semaphore& s) noexcept : at(&s) {
      at->data.fetch_add(semaphore::one_waiter, std::memory_order_seq_cst);
    }
    ~waiter() {
      if (at != nullptr) {
        SINEW_ASSERT(at->data.load(std::memory_order_relaxed) >= semaphore::one_waiter);
        at->data.fetch_sub(semaphore::one_waiter, std::memory_order_relaxed);
      }
    }
  } self{it};
  while (!it.take(semaphore::one_waiter)) {
    const woken why = wait_while(it.value(), 0, "sem_wait", until, true);
    if (why == woken::timed_out) {
      return fail_with(ETIMEDOUT);
    }
    if (why == woken::interrupted) {
      ::pthread_testcancel();
      if (take_signals() == handled::cut_short) {
        return fail_with(EINTR);
      }
    }
  }
  self.at = nullptr;
  return 0;
}

}  // namespace
}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int sem_wait(sem_t* s) { return wait(s, never); }

int sem_clockwait(sem_t* s, clockid_t clock, const timespec* until) {
  if (semaphore::of(s).shared == 0 && semaphore::of(s).take()) {
    return 0;
  }
  return is_clock(clock) && is_time(*until) ? wait(s, moment_of(*until, clock)) : fail_with(EINVAL);
}

int sem_timedwait(sem_t* s, const timespec* until) {
  return sem_clockwait(s, CLOCK_REALTIME, until);
}

int sem_trywait(sem_t* s) noexcept {
  if (semaphore::of(s).shared != 0) {
    return real().sem_trywait(s);
  }
  if (semaphore::of(s).take()) {
    return 0;
  }
  let_others_run();  // the caller may be asking in a loop
  return fail_with(EAGAIN);
}

int sem_post(sem_t* s) noexcept {
  semaphore& it = semaphore::of(s);
  if (it.shared != 0) {
    return real().sem_post(s);
  }
  std::uint64_t now = it.data.load(std::memory_order_relaxed);
  do {
    if (semaphore::value_in(now) == SEM_VALUE_MAX) {
      return fail_with(EOVERFLOW);
    }
  } while (!it.data.compare_exchange_weak(now, now + 1, std::memory_order_seq_cst));
  if (now >= semaphore::one_waiter) {
    release(&it.data, 1);
  }
  return 0;
}

int sem_destroy(sem_t*) noexcept { return 0; }

}  // extern "C"
