// Signals of threads that are fibers: a mask of its own for each, signals sent to one, and those of
// the process to one that does not block them.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>

#include "abi/threads/record.hpp"

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
                                undelivered_signals.load(std::memory_order_relaxed);
  return (waiting & ~mine.blocked.load(std::memory_order_relaxed)) == 0 ? handled::nothing
                                                                        : take_signals_now();
}

/// The last siginfo of a signal.
[[nodiscard]] siginfo_t details_of(int number) noexcept;
/// Signals that stay in the kernel until somebody asks there: those blocked since before there were
/// fibers.
[[nodiscard]] std::uint64_t mask_of_kernel() noexcept;

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
