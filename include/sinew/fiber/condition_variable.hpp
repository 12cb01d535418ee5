// SPDX-License-Identifier: BSD-3-Clause
// A condition variable for fibers and threads alike, mixed.
#pragma once

#include <cstdint>

#include "sinew/fiber/mutex.hpp"

namespace sinew::fiber {

/// As the standard's: wait() gives the mutex free and takes it again, and may return for nothing.
/// Waiters are woken in the order of arrival. All zeros when nobody waits; trivially destroyed,
/// then. Notify while holding the mutex, or after having held it since the condition came true: a
/// notification that is not ordered so may be missed.
class condition_variable {
 public:
  constexpr condition_variable() noexcept = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// `held` is locked by the caller, before and after. Suspends.
  void wait(mutex& held) noexcept { (void)wait_until(held, no_deadline); }
  /// False if `deadline_ns` of now_ns() passed without a notification; `held` is locked either way.
  bool wait_until(mutex& held, std::uint64_t deadline_ns) noexcept;
  template <class Ready>
  void wait(mutex& held, Ready ready) {
    while (!ready()) {
      wait(held);
    }
  }

  /// Any context. Never suspends. Hot when nobody waits.
  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  sleeper_list waiting_;
};

}  // namespace sinew::fiber
