// The thread that sends what a rank has gathered for others, if nothing else does in time.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace sinew::fabric::ucx {

/// Made at the first call; sleeps whenever nobody calls. It sleeps on a timer, so that a call wakes
/// nobody: most often all has gone before the time is over.
class flusher {
 public:
  using work = void (*)(void* of) noexcept;
  flusher(work flush, void* of) noexcept : flush_(flush), of_(of) {}
  /// Ends the thread; in the child of a fork there is none. Not under a lock that `flush` takes.
  ~flusher();
  flusher(const flusher&) = delete;
  flusher& operator=(const flusher&) = delete;

  /// `flush(of)` begins some 100 us after the first of several calls, and sees all that was written
  /// before any of them under the lock that it takes. False: no thread or timer can be had, so it
  /// will not. One caller at a time. Warm.
  [[nodiscard]] bool call() noexcept;

 private:
  enum state : std::uint32_t { idle, called, ended };
  static void* run(void* self) noexcept;
  [[nodiscard]] bool start() noexcept;
  [[nodiscard]] bool set_timer(long nanoseconds) const noexcept;

  work flush_;
  void* of_;
  /// `called`: the timer runs. The thread writes idle before it flushes, so whoever finds `called`
  /// comes before that flush; release and acquire, though what is flushed is under a lock.
  std::atomic<std::uint32_t> word_{idle};
  int timer_ = -1;
  pthread_t thread_{};
  pid_t owner_ = 0;  ///< the process that has the thread; 0: none yet
};

}  // namespace sinew::fabric::ucx
