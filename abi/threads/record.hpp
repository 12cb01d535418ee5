// SPDX-License-Identifier: BSD-3-Clause
// What we know of one thread of the program. It lies in the thread's own TLS, at the same distance
// from the thread pointer in every thread, so a pthread_t leads to it without a look-up.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sinew::fiber {
class fiber;
}

namespace sinew::threads {

/// What record::life says. Nobody may ask for a thread that is gone: it has been joined, or was
/// detached and has ended.
inline constexpr std::uint32_t running = 0;
inline constexpr std::uint32_t detached = 1;
inline constexpr std::uint32_t ended = 2;
inline constexpr std::uint32_t gone = 3;

struct mutex;

struct record {
  bool ours = false;  ///< a thread of the program that is a fiber; false for kernel threads
  bool main = false;  ///< the thread that was there first: its TLS and stack are the kernel's
  /// Set by the thread itself when it starts, after `stack_top`.
  std::atomic<fiber::fiber*> fiber{nullptr};
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  bool left_by_exit = false;  ///< pthread_exit, not cancellation, unwound it
  bool used_before = false;   ///< this TLS has served a thread that ended
  char name[16] = {};
  char* stack_top = nullptr;
  std::size_t stack_bytes = 0;

  int cancel_type = 0;  ///< PTHREAD_CANCEL_DEFERRED or _ASYNCHRONOUS, as it was asked for
  std::atomic<bool> cancelled{false};  ///< relaxed: see cancel_in_kernel()

  // Signals, one bit each; see signals.hpp.
  std::atomic<std::uint64_t> pending{0};          ///< sent to it, and not taken yet
  std::atomic<std::uint64_t> blocked{0};          ///< written by itself
  std::atomic<std::uint64_t> awaited_signals{0};  ///< it is in sigwait() or the like for these
  std::uint64_t blocked_outside = 0;  ///< `blocked` before the outermost handler that is running
  int worst_handled = 0;              ///< of handlers that ran; see file_wait
  int handlers = 0;                   ///< that are running, one inside the other
  int files_held = 0;                 ///< by flockfile()
  mutex* robust_held = nullptr;       ///< see robust.cpp
  int policy = 0;                     ///< as it was asked for: SCHED_OTHER and so on
  int priority = 0;                   ///< likewise
  int id = 0;                         ///< what gettid() says
  // Its processor time; see cputime.hpp. Others read all three; `time_turns` differs after a
  // switch.
  std::atomic<long> used_ns{0};  ///< before it was last switched in
  std::atomic<long> runs_since_ns{
      -1};  ///< by its kernel thread's clock; -1: not running, not known
  std::atomic<std::uint32_t> time_turns{0};
  bool away = false;   ///< it has left its worker: see monitor.hpp. Written by itself
  bool stays = false;  ///< it must not leave now: it is inside the scheduler, or all but gone
  record* next_living = nullptr;
  record* previous_living = nullptr;

  /// Ending is a release, seeing `ended` an acquire: the joiner sees the result. Who moves it from
  /// `ended` to `gone` gives the block to the next thread.
  std::atomic<std::uint32_t> life{running};
  std::atomic<bool> joined{false};  ///< somebody waits for its end; relaxed: it only finds misuse
  /// See interrupt() in parking_lot.cpp: it has been cancelled, or there are signals for it.
  std::atomic<std::uint32_t> poked{0};
  std::uint32_t calls_since_yield = 0;  ///< see patience.hpp
  record* next_free = nullptr;
};

/// The caller's.
extern constinit thread_local record mine [[gnu::tls_model("initial-exec")]];

[[nodiscard]] inline record* record_of(pthread_t thread) noexcept {
  const auto distance = reinterpret_cast<char*>(&mine) - reinterpret_cast<char*>(::pthread_self());
  return reinterpret_cast<record*>(reinterpret_cast<char*>(thread) + distance);
}

[[nodiscard]] inline pthread_t thread_of(const record& r) noexcept {
  const auto distance = reinterpret_cast<char*>(&mine) - reinterpret_cast<char*>(::pthread_self());
  return reinterpret_cast<pthread_t>(reinterpret_cast<const char*>(&r) - distance);
}

}  // namespace sinew::threads
