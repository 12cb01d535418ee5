// SPDX-License-Identifier: BSD-3-Clause
// A value that somebody will provide; fibers and threads wait for it.
#pragma once

#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/fiber/sleeper.hpp"
#include "sinew/fiber/waited.hpp"

namespace sinew::fiber {

/// Holds a pointer once it is set, for any number of readers. May be destroyed when set() and every
/// wait() have returned.
class future {
 public:
  constexpr future() noexcept = default;
  future(const future&) = delete;
  future& operator=(const future&) = delete;

  /// Any context. Never suspends. False, and nothing done, if it has a value already.
  [[nodiscard]] bool set(void* value) noexcept;
  /// Suspends until it has a value. What was written before set() is seen.
  [[nodiscard]] waited wait(std::uint64_t deadline_ns = no_deadline) noexcept;
  [[nodiscard]] bool ready() noexcept;
  /// Once it is ready.
  [[nodiscard]] void* value() const noexcept {
    SINEW_EXPECT(is_set_);
    return value_;
  }

 private:
  sleeper_list waiting_;
  bool is_set_ = false;  ///< under waiting_'s lock, as is value_ until then
  void* value_ = nullptr;
};

}  // namespace sinew::fiber
