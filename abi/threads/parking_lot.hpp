// SPDX-License-Identifier: BSD-3-Clause
// The parking lot: fibers and threads that wait for something at an address, as futexes do it for
// threads. All that the program's mutexes, conditions, semaphores and the rest need of us beside a
// word of their own, so they fit into the objects that glibc's headers declare.
#pragma once

#include <atomic>
#include <cstdint>

#include "sinew/fiber/sleeper.hpp"

namespace sinew::threads {

struct record;

/// Nanoseconds of now_ns(), CLOCK_MONOTONIC.
using moment = std::uint64_t;
inline constexpr moment never = fiber::no_deadline;

enum class woken : std::uint8_t {
  released,    ///< by release()
  changed,     ///< did not wait: the word was different already
  timed_out,   ///< the moment has come
  interrupted  ///< pthread_cancel or a signal wants the caller to look
};

/// One waiter's place in the queue of an address. On the waiter's stack; it waits once.
class place {
 public:
  /// `why` lives as long as the program: reports show it. interrupt() ends the wait.
  place(const void* address, const char* why) noexcept;
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  /// Stands in the queue from here on. `count`, unless null, is raised, and is lowered by whoever
  /// takes the place out of the queue; both under the queue's lock.
  void enter(std::atomic<std::uint32_t>* count = nullptr) noexcept;
  /// The same if the word still has this value; false, and nothing done, if not.
  [[nodiscard]] bool enter_if(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
  /// Returns when released or when `until` has come. Suspends a fiber, blocks a thread. Keeps
  /// errno. Afterwards it stands in no queue.
  [[nodiscard]] woken wait(moment until) noexcept;

 private:
  friend struct queue;
  friend unsigned release(const void* address, unsigned most) noexcept;

  fiber::sleeper sleeper_;
  const void* address_;
  std::atomic<std::uint32_t>* poked_ = nullptr;  ///< only if it may be interrupted
  place* next_ = nullptr;
  place* previous_ = nullptr;
  std::atomic<std::uint32_t>* count_ = nullptr;
  bool listed_ = false;  ///< under the queue's lock
};

/// Waits while the word has this value; like place, in one call. Returns `interrupted` only if
/// `may_interrupt`; else handlers of signals run when they come, and it waits on.
[[nodiscard]] woken wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                               const char* why, moment until = never, bool may_interrupt = false);

/// Lets the first `most` waiters of an address go, in the order in which they came. Returns how
/// many. Nobody touches what lies at the address: it may be gone.
unsigned release(const void* address, unsigned most) noexcept;
inline constexpr unsigned all_of_them = UINT32_MAX;

/// Ends the wait of a thread in a place of its own, now or at its next such wait. Any context, also
/// a handler of a signal.
void interrupt(record& sleeper) noexcept;

}  // namespace sinew::threads
