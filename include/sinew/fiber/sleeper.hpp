// SPDX-License-Identifier: BSD-3-Clause
// The one way in which everything of this module waits: a list of sleepers, each a fiber or a
// thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/fiber/fiber.hpp"

namespace sinew::fiber {

/// A lock for sections of a few dozen instructions that never suspend. Spins, then gives the
/// processor away. Any context. Hot.
class spin_lock {
 public:
  void lock() noexcept {
    if (held_.exchange(1, std::memory_order_acquire) != 0) {
      lock_slowly();
    }
  }
  void unlock() noexcept {
    SINEW_EXPECT(held_.load(std::memory_order_relaxed) == 1);
    held_.store(0, std::memory_order_release);
  }

 private:
  void lock_slowly() noexcept;
  /// 1 while held. Taking is an acquire, giving back a release.
  std::atomic<std::uint32_t> held_{0};
};

inline constexpr std::uint64_t no_deadline = UINT64_MAX;

/// Its maker waits in it, once: suspended if it is a fiber, parked if it is a thread.
class sleeper {
 public:
  /// `why` appears in reports while it waits: a string that lives as long as the program.
  explicit sleeper(const char* why) noexcept : fiber_(self()), why_(why) {}
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;

  /// Returns after wake(); false if that did not come before `deadline_ns` of now_ns(). After
  /// false, wake() may still come at any time: take the sleeper off where it is listed first.
  /// `call_off`, if given, ends a fiber's wait as a deadline does when it is not 0: whoever sets it
  /// (sequentially consistent) calls resume_from_handler() afterwards.
  bool wait(std::uint64_t deadline_ns = no_deadline,
            const std::atomic<std::uint32_t>* call_off = nullptr) noexcept;
  /// Once, from any context. From then on the sleeper may be gone. Hot.
  void wake() noexcept;
  [[nodiscard]] bool woken() const noexcept { return woken_.load(std::memory_order_acquire) != 0; }

 private:
  friend class sleeper_list;
  fiber* fiber_;
  const char* why_;
  sleeper* next_ = nullptr;
  sleeper* previous_ = nullptr;
  bool listed_ = false;
  /// 1 once woken. Setting it is a release and the waker's last access, reading it an acquire.
  std::atomic<std::uint32_t> woken_{0};
};

/// First in, first out. Lock it around every use but none_seen(). All zeros when empty.
class sleeper_list {
 public:
  void lock() noexcept { lock_.lock(); }
  void unlock() noexcept { lock_.unlock(); }

  void push(sleeper& s) noexcept;
  [[nodiscard]] sleeper* pop() noexcept;
  /// False if `s` is not there (any more).
  bool remove(sleeper& s) noexcept;
  [[nodiscard]] bool empty() const noexcept {
    return first_.load(std::memory_order_relaxed) == nullptr;
  }
  /// Without the lock: a push that happened before is seen.
  [[nodiscard]] bool none_seen() const noexcept { return empty(); }

  /// Not locked: waits in `s`, which was pushed, until woken; false if the deadline passed, or it
  /// was called off, and `s` has been taken off again.
  bool wait(sleeper& s, std::uint64_t deadline_ns = no_deadline,
            const std::atomic<std::uint32_t>* call_off = nullptr) noexcept;
  /// Puts `s` into the list, unlocks, waits; cancel() ends this wait, too.
  [[nodiscard]] waited wait_unlock(sleeper& s, std::uint64_t deadline_ns) noexcept;
  /// Unlocks, and wakes all that were in the list.
  void wake_all_unlock() noexcept;
  /// Takes off the first `most`, for wake_taken() after unlock(): whoever is woken may destroy the
  /// list. `count`: how many they are.
  [[nodiscard]] sleeper* take(std::uint32_t most, std::uint32_t& count) noexcept;
  static void wake_taken(sleeper* first) noexcept;

 private:
  spin_lock lock_;
  /// Written under the lock; atomic for none_seen() only, hence relaxed.
  std::atomic<sleeper*> first_{nullptr};
  sleeper* last_ = nullptr;
};

}  // namespace sinew::fiber
