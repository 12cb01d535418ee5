// SPDX-License-Identifier: BSD-3-Clause
// Something that is done once, whoever comes first; for fibers and threads alike.
#pragma once

#include <atomic>
#include <cstdint>

#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

/// All zeros before. `action` may suspend. If it throws, the next caller does it.
class once {
 public:
  constexpr once() noexcept = default;
  once(const once&) = delete;
  once& operator=(const once&) = delete;

  /// Returns when it has been done, by the caller or another, whose writes are seen. Suspends
  /// meanwhile. Hot afterwards.
  template <class Action>
  void call(Action action) {
    if (!done() && begin()) {
      struct attempt {
        once& of;
        bool good = false;
        ~attempt() { of.end(good); }
      } now{*this};
      action();
      now.good = true;
    }
  }
  [[nodiscard]] bool done() const noexcept {
    return state_.load(std::memory_order_acquire) == over;
  }

 private:
  /// True: the caller does it, and then calls end().
  bool begin() noexcept;
  void end(bool good) noexcept;

  static constexpr std::uint32_t untouched = 0;
  static constexpr std::uint32_t under_way = 1;
  static constexpr std::uint32_t over = 2;
  /// Written under the lock; `over` by a release, seen by an acquire.
  std::atomic<std::uint32_t> state_{untouched};
  sleeper_list waiting_;
};

}  // namespace sinew::fiber
