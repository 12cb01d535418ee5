// SPDX-License-Identifier: BSD-3-Clause
// Up to 64 operations under way, started by any thread and finished by progress.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "sinew/base/check.hpp"

namespace sinew::fabric::shm {

/// take() -> fill the entry -> start() -> (progress) -> release(). Lock-free. An entry that was
/// taken belongs to its taker; one that was started, to the thread that makes progress.
template <class Entry>
class fixed_table {
 public:
  static constexpr int capacity = 64;

  /// -1 if all are in use.
  [[nodiscard]] int take() noexcept {
    std::uint64_t free = free_.load(std::memory_order_acquire);
    while (free != 0) {
      if (free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        return std::countr_zero(free);
      }
    }
    return -1;
  }
  void start(int i) noexcept {
    SINEW_EXPECT((free_.load(std::memory_order_relaxed) & bit(i)) == 0);
    started_.fetch_or(bit(i), std::memory_order_release);
  }
  void release(int i) noexcept {
    SINEW_EXPECT((free_.load(std::memory_order_relaxed) & bit(i)) == 0);
    started_.fetch_and(~bit(i), std::memory_order_relaxed);
    free_.fetch_or(bit(i), std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t started() const noexcept {
    return started_.load(std::memory_order_acquire);
  }
  [[nodiscard]] Entry& operator[](int i) noexcept {
    SINEW_EXPECT(i >= 0 && i < capacity);
    return entries_[i];
  }

 private:
  static constexpr std::uint64_t bit(int i) noexcept { return std::uint64_t{1} << i; }
  std::atomic<std::uint64_t> free_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> started_{0};
  Entry entries_[capacity];
};

}  // namespace sinew::fabric::shm
