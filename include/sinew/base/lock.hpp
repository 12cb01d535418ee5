// SPDX-License-Identifier: BSD-3-Clause
// A mutex of four bytes for sections of a few dozen instructions: spins briefly, then sleeps.
#pragma once

#include <atomic>
#include <cstdint>

#include "sinew/base/check.hpp"

namespace sinew::base {

/// Invariant of word_: 0 free, 1 held, 2 held and somebody may sleep on it. Acquiring is an
/// acquire, releasing a release. It sleeps (futex) rather than spin on, so a holder that loses
/// its core costs the others no more than a wake-up; so does one that holds it for longer, as
/// fabric/ucx does while UCX works. Never held across the runtime's progress or a suspension.
class lock {
 public:
  void acquire() noexcept {
    std::uint32_t free = 0;
    if (!word_.compare_exchange_strong(free, 1, std::memory_order_acquire,
                                       std::memory_order_relaxed)) [[unlikely]] {
      acquire_slowly();
    }
  }
  [[nodiscard]] bool try_acquire() noexcept {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, 1, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void release() noexcept {
    const std::uint32_t before = word_.exchange(0, std::memory_order_release);
    SINEW_ASSERT(before != 0);  // else it was not held
    if (before == 2) [[unlikely]] {
      wake_one();
    }
  }

 private:
  [[gnu::noinline]] void acquire_slowly() noexcept;
  [[gnu::noinline]] void wake_one() noexcept;
  std::atomic<std::uint32_t> word_{0};
};

/// Holds a lock for a scope, or nothing in a job without threads.
class guard {
 public:
  guard(lock& l, bool needed) noexcept : lock_(needed ? &l : nullptr) {
    if (lock_ != nullptr) {
      lock_->acquire();
    }
  }
  ~guard() { unlock(); }
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  void unlock() noexcept {
    if (lock_ != nullptr) {
      lock_->release();
      lock_ = nullptr;
    }
  }

 private:
  lock* lock_;
};

}  // namespace sinew::base
