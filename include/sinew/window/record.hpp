// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a window share of each one of them, in memory that all ranks of its node map.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"

namespace sinew::window {

/// Of one rank, in memory that all map.
struct alignas(64) record {
  static constexpr std::size_t most_listed = 64;

  /// How many hold the rank's lock shared, or `exclusive`. Acquired and released with those orders:
  /// what the last holder has stored is seen by the next.
  std::atomic<std::uint32_t> lock;
  static constexpr std::uint32_t exclusive = 1U << 31;
  /// While a rank accumulates to this one: its number in the job plus 1; orders likewise.
  std::atomic<std::uint32_t> accumulating;
  std::uint64_t name;    ///< of the window, among those of its rank; 0: on one node
  std::uint64_t base;    ///< in the rank's own address space
  std::uint64_t bytes;   ///< of its memory
  std::uint64_t offset;  ///< of its memory in the mapping; 0: it is not there
  std::int64_t unit;     ///< displacement unit
  /// Attached memory: first address and the one behind the last; equal: none. Written by the owner,
  /// the end first and last 0, so that no reader sees memory that is not attached.
  struct attached_memory {
    std::atomic<std::uint64_t> begin;
    std::atomic<std::uint64_t> end;
  } attached[most_listed];
  /// Pieces beside those, of which others cannot know where they lie. Released by the owner after
  /// the piece is there.
  std::atomic<std::uint32_t> unlisted;

  /// Whether it is had now.
  [[nodiscard]] bool try_lock(bool exclusively) noexcept;
  void unlock(bool exclusively) noexcept;
  /// Whether [from, to) lies in attached pieces, as far as one knows.
  [[nodiscard]] bool has_attached(std::uint64_t from, std::uint64_t to) const noexcept;
};

// Processes share the records.
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(record) % 64 == 0);

inline bool record::try_lock(bool exclusively) noexcept {
  std::uint32_t now = 0;
  if (exclusively) {
    return lock.compare_exchange_strong(now, exclusive, std::memory_order_acquire,
                                        std::memory_order_relaxed);
  }
  now = lock.load(std::memory_order_relaxed);
  while ((now & exclusive) == 0) {
    if (lock.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                   std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

inline void record::unlock(bool exclusively) noexcept {
  if (exclusively) {
    SINEW_ASSERT(lock.load(std::memory_order_relaxed) == exclusive);
    lock.store(0, std::memory_order_release);
    return;
  }
  [[maybe_unused]] const std::uint32_t before = lock.fetch_sub(1, std::memory_order_release);
  SINEW_ASSERT(before != 0 && (before & exclusive) == 0);
}

}  // namespace sinew::window
