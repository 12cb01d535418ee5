// SPDX-License-Identifier: BSD-3-Clause
// Fibers: user-level threads with a stack of their own, run by workers (pinned threads). A switch
// costs a few nanoseconds, a parked fiber its stack and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sinew/base/status.hpp"
#include "sinew/fiber/waited.hpp"

namespace sinew {
class completion;
}

namespace sinew::fiber {

/// One fiber's control block. Opaque; its address is its name until it is joined, or has ended
/// and was detached. Blocks are reused and never unmapped while the scheduler lives, so a late
/// resume() of an ended fiber is harmless: somebody else wakes for nothing and looks again.
class fiber;

struct spawn_options {
  std::string_view name = {};      ///< shown in reports; the first 15 bytes are kept
  std::size_t stack_bytes = 0;     ///< 0: SINEW_FIBER_STACK
  int worker = -1;                 ///< where it runs, for good; -1: the caller's, or in turn
  bool detached = false;           ///< nobody will join it
  std::uintptr_t thread_base = 0;  ///< thread pointer of its own: see thread_storage.hpp; 0: none
  struct pooled* in = nullptr;     ///< pool's own
};

/// The fiber that runs the caller; null on a thread that is not a worker. Any context. Hot.
[[nodiscard]] fiber* self() noexcept;

/// Makes a fiber that runs `entry(argument)` and stores its address in `made` (unless null).
/// Any context of a process with a scheduler; does not suspend. Errors: retry(no_memory), and
/// then nothing has changed. Hot with a cached stack.
[[nodiscard]] status spawn(void (*entry)(void* argument), void* argument, fiber** made = nullptr,
                           const spawn_options& how = {}) noexcept;

/// Waits until `f` has ended, and gives it back. Exactly once per fiber that is not detached.
/// Suspends a fiber, parks a thread. Joining oneself, or twice at the same time, is a usage error
/// and ends the process with a message. Warm.
void join(fiber& f);
/// The same for at most so long, until now_ns() is `deadline_ns`. If it has not ended by then, or
/// the caller has been cancelled (and `may_be_cancelled`), it is still to be joined.
[[nodiscard]] waited join_until(fiber& f, std::uint64_t deadline_ns, bool may_be_cancelled = true);
/// Nobody will join `f`: its block is reused when it ends. Instead of join(). Any context.
void detach(fiber& f) noexcept;
[[nodiscard]] bool ended(const fiber& f) noexcept;
/// The kernel's number of the thread that runs `f` just now, or 0. A hint. Any context, also a
/// handler of a signal.
[[nodiscard]] int thread_running(const fiber& f) noexcept;

/// Lets the other ready fibers of this worker run; false if there was none. In a thread:
/// sched_yield(). Hot.
bool yield() noexcept;

/// The same, and before it the worker looks at its timers and its poller. For a handler of a timer
/// that interrupts long computations; not if it has interrupted this library. Fibers only.
void end_slice() noexcept;

/// Suspends the calling fiber until somebody calls resume() on it. It may also return for nothing:
/// look at what you wait for in a loop. A resume() that came before makes it return at once, if it
/// came after the fiber had started (one that came earlier has done its work: the fiber sees, as
/// it starts, all that was written before). Fibers only. Hot.
void suspend() noexcept;
/// Makes `f` ready. Any thread, any number of times; never blocks, never suspends. Hot.
void resume(fiber& f) noexcept;

/// The same for handlers of signals, which may have interrupted a worker anywhere. Warm.
void resume_from_handler(fiber& f) noexcept;

/// Returns when `c` is done. Suspends a fiber; on a thread it sleeps without polling (core's
/// runtime::wait polls). Hot.
void wait(completion& c);

/// Suspends for at least so long. A thread sleeps.
void sleep_for(std::uint64_t ns) noexcept;

/// Until now_ns() is `deadline_ns`: timed_out, or cancelled.
waited sleep_until(std::uint64_t deadline_ns) noexcept;

/// Asks `f` to end: from now on its waits that answer `waited` or an io_result end with
/// cancelled or ECANCELED instead of waiting, and is_cancelled() is true in it; nothing is unwound.
/// Locks, barriers, conditions and join() wait on. For good. Any context. False, and nothing done,
/// for a fiber with a thread pointer of its own (a program's thread has pthread_cancel()).
bool cancel(fiber& f) noexcept;
[[nodiscard]] bool is_cancelled() noexcept;

/// The name given at spawn, or "". Any context.
[[nodiscard]] std::string_view name(const fiber& f) noexcept;
/// Another name, for reports; who reads it at the same time may see a part of either.
void rename(fiber& f, std::string_view to) noexcept;

}  // namespace sinew::fiber
