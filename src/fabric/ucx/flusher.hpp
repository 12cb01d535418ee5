// SPDX-License-Identifier: BSD-3-Clause
// The thread that sends what a rank has gathered for others, if nothing else does in time.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace sinew::fabric::ucx {

/// Made at the first call; sleeps whenever nobody calls. It sleeps on a timer that each call sets
/// anew, so that it does not run while a sender goes on: most often all has gone before.
class flusher {
 public:
  using work = void (*)(void* of) noexcept;
  flusher(work flush, void* of) noexcept : flush_(flush), of_(of) {}
  /// Ends the thread; in the child of a fork there is none. Not under a lock that `flush` takes.
  ~flusher();
  flusher(const flusher&) = delete;
  flusher& operator=(const flusher&) = delete;

  /// Opens the timer; else the first call does, and a program that counts its open files is
  /// surprised. Cold.
  void prepare() noexcept;
  /// `flush(of)` begins some 100 us after the last call, perhaps sooner, and sees all that was
  /// written before it under the lock that it takes. False: no thread or timer can be had, so it
  /// will not. One caller at a time. Warm: a system call.
  [[nodiscard]] bool call() noexcept;

 private:
  static void* run(void* self) noexcept;
  [[nodiscard]] bool start() noexcept;
  [[nodiscard]] bool set_timer(long nanoseconds) const noexcept;

  work flush_;
  void* of_;
  std::atomic<bool> ended_{false};  ///< relaxed: what is flushed is under a lock
  int timer_ = -1;
  pthread_t thread_{};
  pid_t owner_ = 0;  ///< the process that has the thread; 0: none yet
};

}  // namespace sinew::fabric::ucx
