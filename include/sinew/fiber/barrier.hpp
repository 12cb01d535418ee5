// SPDX-License-Identifier: BSD-3-Clause
// A barrier for fibers and threads alike, mixed.
#pragma once

#include <cstdint>

#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

/// Lets its parties pass together, again and again. It may be destroyed as soon as wait() has
/// returned to all of a round.
class barrier {
 public:
  explicit constexpr barrier(std::uint32_t parties) noexcept : parties_(parties) {}
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// Suspends until all parties are here. True in exactly one of them. What each wrote before is
  /// visible to all after.
  bool wait() noexcept;

 private:
  sleeper_list waiting_;
  std::uint32_t arrived_ = 0;  ///< guarded by waiting_'s lock
  std::uint32_t parties_;
};

}  // namespace sinew::fiber
