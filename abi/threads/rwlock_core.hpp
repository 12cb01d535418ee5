// SPDX-License-Identifier: BSD-3-Clause
// The lock for readers and writers in the word of a pthread_rwlock_t. Parking is the parking lot
// and how threads meet: an explorer in the tests has its own.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "abi/threads/parking_lot.hpp"
#include "sinew/base/check.hpp"

namespace sinew::threads {

/// What a pthread_rwlock_t holds under us. All zero but the flags is free: the initialisers.
template <class Parking>
struct rwlock_core {
  static constexpr std::uint32_t writer = 1U << 31;
  static constexpr std::uint32_t waited = 1U << 30;  ///< somebody may stand in the queue
  static constexpr std::uint32_t readers = waited - 1;

  /// Taking is an acquire, leaving a release; sequentially consistent where a waiter may be left.
  std::atomic<std::uint32_t> word;
  std::uint32_t unused;
  std::atomic<pthread_t> owner;  ///< of the writer: it only finds misuse
  std::uint64_t unused_too;
  std::uint32_t pad;
  int shared;  ///< glibc's field, not 0 between processes
  std::uint64_t more_unused[2];
  std::uint32_t flags;  ///< where glibc's initialisers put it: PTHREAD_RWLOCK_PREFER_*

  /// Readers pass waiting writers, as with glibc, unless the lock was made to prefer writers.
  bool may_read(std::uint32_t now) const noexcept {
    return (now & writer) == 0 &&
           (flags != PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP || (now & waited) == 0);
  }
  bool may_write(std::uint32_t now) const noexcept { return (now & ~waited) == 0; }

  int try_read() noexcept {
    Parking::step();
    std::uint32_t now = word.load(std::memory_order_relaxed);
    while (may_read(now)) {
      if ((now & readers) == readers) {
        return EAGAIN;
      }
      Parking::step();
      if (word.compare_exchange_weak(now, now + 1, std::memory_order_acquire)) {
        return 0;
      }
    }
    return EBUSY;
  }

  int try_write() noexcept {
    Parking::step();
    std::uint32_t now = word.load(std::memory_order_relaxed);
    while (may_write(now)) {
      Parking::step();
      if (word.compare_exchange_weak(now, now | writer, std::memory_order_acquire)) {
        owner.store(Parking::self(), std::memory_order_relaxed);
        return 0;
      }
    }
    return EBUSY;
  }

  int read(const char* why, moment until) noexcept {
    return lock(&rwlock_core::try_read, &rwlock_core::may_read, why, until);
  }
  int write(const char* why, moment until) noexcept {
    return lock(&rwlock_core::try_write, &rwlock_core::may_write, why, until);
  }

  int lock(int (rwlock_core::*attempt)() noexcept,
           bool (rwlock_core::*may_have)(std::uint32_t now) const noexcept, const char* why,
           moment until) noexcept {
    for (;;) {
      if (const int code = (this->*attempt)(); code != EBUSY) {
        return code;
      }
      Parking::step();
      std::uint32_t now = word.load(std::memory_order_relaxed);
      SINEW_ASSERT((now & writer) == 0 || (now & readers) == 0);
      Parking::step();
      if ((now & writer) != 0 && owner.load(std::memory_order_relaxed) == Parking::self()) {
        return EDEADLK;
      }
      // Who may have it by now does not wait: whoever holds it beside may be waiting for the
      // caller. So a free lock is never marked as waited for; unlock() clears the mark.
      if ((this->*may_have)(now) ||
          ((now & waited) == 0 &&
           !word.compare_exchange_strong(now, now | waited, std::memory_order_seq_cst))) {
        continue;
      }
      if (Parking::wait_while(word, now | waited, why, until) == woken::timed_out) {
        give_up();
        return ETIMEDOUT;
      }
    }
  }

  /// The mark that a writer has left may keep readers out for nobody: all who wait look again, and
  /// leave their own.
  void give_up() noexcept {
    if (flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) {
      Parking::step();
      word.fetch_and(~waited, std::memory_order_seq_cst);
      Parking::step();
      Parking::release_all(&word);
    }
  }

  int unlock() noexcept {
    Parking::step();
    std::uint32_t now = word.load(std::memory_order_relaxed);
    std::uint32_t next;
    do {
      const std::uint32_t left = (now & writer) != 0 ? 0 : (now & readers) - 1;
      next = left == 0 ? 0 : left | (now & waited);
      if ((now & writer) != 0) {
        owner.store(pthread_t{}, std::memory_order_relaxed);
      }
      Parking::step();
    } while (!word.compare_exchange_weak(now, next, std::memory_order_seq_cst));
    Parking::step();
    if (next == 0 && (now & waited) != 0) {
      Parking::release_all(&word);  // who finds it taken queues again
    }
    return 0;
  }
};

}  // namespace sinew::threads
