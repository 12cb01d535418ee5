// SPDX-License-Identifier: BSD-3-Clause
// A counting semaphore for fibers and threads alike, mixed.
#pragma once

#include <cstdint>

#include "sinew/fiber/sleeper.hpp"
#include "sinew/fiber/waited.hpp"

namespace sinew::fiber {

/// Units that are taken and given back. Whoever waits gets one in the order of arrival: a release()
/// hands it over. Trivially destroyed when nobody waits.
class semaphore {
 public:
  static constexpr std::uint32_t most = UINT32_MAX;

  explicit constexpr semaphore(std::uint32_t units = 0) noexcept : units_(units) {}
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// Suspends while there is none. A cancelled fiber gets one only if it need not wait.
  [[nodiscard]] waited acquire(std::uint64_t deadline_ns = no_deadline) noexcept;
  [[nodiscard]] bool try_acquire() noexcept;
  /// Any context. Never suspends. False, and nothing done, if there would be more than `most`.
  [[nodiscard]] bool release(std::uint32_t units = 1) noexcept;
  /// A hint.
  [[nodiscard]] std::uint32_t units() noexcept;

 private:
  sleeper_list waiting_;
  std::uint32_t units_;  ///< under waiting_'s lock; 0 while somebody waits
};

}  // namespace sinew::fiber
