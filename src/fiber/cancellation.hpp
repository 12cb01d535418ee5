// SPDX-License-Identifier: BSD-3-Clause
// What waits that cancel() may end have in common.
#pragma once

#include <atomic>
#include <cstdint>

#include "fiber/control.hpp"
#include "sinew/fiber/waited.hpp"

namespace sinew::fiber {

/// For sleeper::wait(): not 0 once the caller has been cancelled. Null on a thread.
[[nodiscard]] inline const std::atomic<std::uint32_t>* calls_off_self() noexcept {
  const fiber* const me = self();
  return me == nullptr ? nullptr : &me->apart;
}

/// Why a wait of the caller has ended without what it was for.
[[nodiscard]] inline waited ended_early(const std::atomic<std::uint32_t>* calls_off) noexcept {
  return calls_off != nullptr && calls_off->load(std::memory_order_relaxed) != 0
             ? waited::cancelled
             : waited::timed_out;
}

}  // namespace sinew::fiber
