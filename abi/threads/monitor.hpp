// SPDX-License-Identifier: BSD-3-Clause
// Workers that are stuck: their fiber blocks in a system call that we do not see coming, or
// computes where it must not be switched out. Such a fiber keeps its kernel thread, as a thread of
// the system, until its next call that waits; its worker goes on on another one.
#pragma once

#include <signal.h>

#include "abi/threads/record.hpp"

namespace sinew::threads {

/// Starts the thread that looks at the workers every few milliseconds, while any is awake. Once,
/// when threads begin to be fibers. Cold.
void start_monitor() noexcept;

/// Has the monitor sent this?
[[nodiscard]] bool is_from_monitor(const siginfo_t& info) noexcept;
/// In the handler of that signal: the interrupted thread leaves its worker, if it can, and a system
/// call that the signal broke off is made again.
void leave_if_stuck(const siginfo_t& info, void* context) noexcept;

/// In a handler of a signal: is a fiber interrupted that could leave its worker, while others of
/// the worker are ready?
[[nodiscard]] bool makes_others_wait(const void* context) noexcept;

/// Of a thread that has been cancelled: if it blocks in a call of the C library that cancellation
/// ends, it leaves that. Any thread of the program.
void cancel_in_kernel(record& r) noexcept;
[[nodiscard]] bool is_cancellation(const siginfo_t& info) noexcept;
/// In the handler of the signal that cancel_in_kernel() sends.
void be_cancelled(void* context) noexcept;

void come_back_now() noexcept;

/// Before a call that waits: makes a thread that has left its worker a fiber again.
inline void come_back() noexcept {
  if (mine.away) [[unlikely]] {
    come_back_now();
  }
}

/// For its time the caller does not leave its worker: inside the scheduler, where that calls the C
/// library.
class staying {
 public:
  staying() noexcept : before_(mine.stays) { mine.stays = true; }
  ~staying() { mine.stays = before_; }
  staying(const staying&) = delete;
  staying& operator=(const staying&) = delete;

 private:
  bool before_;
};

}  // namespace sinew::threads
