// SPDX-License-Identifier: BSD-3-Clause
// Signals of threads that are fibers: a mask of its own for each, signals sent to one, and those of
// the process to one that does not block them.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "abi/threads/record.hpp"
#include "abi/threads/signal_set.hpp"

namespace sinew::threads {

/// What the handlers that ran mean for the call during which they ran.
enum class handled : std::uint8_t {
  nothing,   ///< none ran
  restart,   ///< all were installed with SA_RESTART
  cut_short  ///< one was not: the call fails with EINTR
};

/// Runs the handlers of the signals that wait for the caller, in its own context. They may unwind
/// its stack or jump away, so nothing may be held.
handled take_signals_now();

/// Signals of the process for which no thread could be found that does not block them.
extern constinit std::atomic<std::uint64_t> undelivered_signals;

/// The same, at the price of a look if there is none.
inline handled take_signals() {
  const std::uint64_t waiting = mine.pending.load(std::memory_order_seq_cst) |
                                undelivered_signals.load(std::memory_order_seq_cst);
  return (waiting & ~mine.blocked.load(std::memory_order_relaxed)) == 0 ? handled::nothing
                                                                        : take_signals_now();
}

/// The last siginfo of a signal.
[[nodiscard]] siginfo_t details_of(int number) noexcept;
/// Signals that stay in the kernel until somebody asks there (sigwait, signalfd): those blocked
/// since before there were fibers, by all threads.
[[nodiscard]] std::uint64_t kept_by_kernel() noexcept;

/// Does the caller block signals that the kernel delivers, so that they wait for it here?
[[nodiscard]] inline bool holds_signals_back() noexcept {
  const std::uint64_t blocked = mine.blocked.load(std::memory_order_relaxed);
  return blocked != 0 && (blocked & ours_to_deliver & ~kept_by_kernel()) != 0;
}

/// The caller's mask from now on. Returns the one before. take_signals() runs the handlers of those
/// that have waited and are not blocked any more.
std::uint64_t change_mask(std::uint64_t to) noexcept;

/// A mask for the time of a call. Handlers of signals that it lets in and that wait already end the
/// call before it begins, as in the kernel; those of signals that it has held back run after it.
template <class Call>
int with_mask(const sigset_t* mask, Call call) {
  if (mask == nullptr) {
    return call();
  }
  struct instead {  // also when cancellation unwinds
    std::uint64_t before;
    explicit instead(std::uint64_t now) : before(change_mask(now)) {}
    ~instead() { mine.blocked.store(before); }
    instead(const instead&) = delete;
    instead& operator=(const instead&) = delete;
  };
  int answer = -1;
  {
    const instead during(bits_of(*mask));
    if (take_signals() != handled::nothing) {
      errno = EINTR;
    } else {
      answer = call();
    }
  }
  (void)take_signals();
  return answer;
}

/// Has a signal, whose handler was given this, interrupted one of our libraries? Then it may be in
/// the middle of something.
[[nodiscard]] bool in_own_text(const void* context) noexcept;

/// When threads begin to be fibers, on the main thread: handlers go through us from now on.
void adopt_signals() noexcept;
/// In the child of a fork: the kernel's again, with the calling thread's mask.
void return_signals() noexcept;

/// A new thread's mask is its creator's. Any thread; it has not started.
void inherit_mask(record& r, const pthread_attr_t* attributes) noexcept;

/// What gettid() says of the first; the kernel's own numbers end below.
inline constexpr int first_fiber_id = 1 << 22;

/// Threads of the program that have not ended, so that signals of the process find one, and numbers
/// (gettid) their thread.
void enlist(record& r) noexcept;
void strike_off(record& r) noexcept;
/// Of a number that gettid() gave out; null if there is no such thread.
[[nodiscard]] record* thread_with(int id) noexcept;

}  // namespace sinew::threads
