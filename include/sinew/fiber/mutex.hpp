// SPDX-License-Identifier: BSD-3-Clause
// A mutex for fibers and threads alike, mixed.
#pragma once

#include <atomic>
#include <cstdint>

#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

/// Whoever waits is suspended (a fiber) or parked (a thread), and gets the mutex in the order of
/// arrival: unlock() hands it over, so nobody starves. Not recursive; it does not know its owner,
/// and may be unlocked by another than locked it. All zeros when free; trivially destroyed, while
/// free. Fits std::lock_guard and std::unique_lock.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Suspends while another holds it. Hot when free.
  void lock() noexcept {
    if (!try_lock()) {
      (void)lock_slowly(no_deadline);
    }
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = free;
    return state_.compare_exchange_strong(expected, held, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  /// False if it could not be had before `deadline_ns` of now_ns().
  [[nodiscard]] bool try_lock_until(std::uint64_t deadline_ns) noexcept {
    return try_lock() || lock_slowly(deadline_ns);
  }
  /// Any context. Never suspends. Hot.
  void unlock() noexcept {
    std::uint32_t expected = held;
    if (!state_.compare_exchange_strong(expected, free, std::memory_order_release,
                                        std::memory_order_relaxed)) {
      unlock_slowly();
    }
  }

 private:
  bool lock_slowly(std::uint64_t deadline_ns) noexcept;
  void unlock_slowly() noexcept;

  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t held = 1;
  static constexpr std::uint32_t wanted = 2;  ///< held, and somebody may be in waiting_
  /// Becomes `wanted` under the lock of waiting_ only, and leaves it under that lock only: who
  /// unlocks and finds `wanted` finds there whoever made it so. Taking it is an acquire, freeing it
  /// a release; handing it over is ordered by the waking of the sleeper.
  std::atomic<std::uint32_t> state_{free};
  sleeper_list waiting_;
};

}  // namespace sinew::fiber
