// SPDX-License-Identifier: BSD-3-Clause
// How others reach a worker: the signals they leave, and how they end its sleep.
#pragma once

#include <atomic>
#include <cstdint>

#include "fiber/signal_set.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fiber {

/// No signal is missed: the owner writes asleep_ and then looks at its signals and whatever else
/// concerns it; whoever signals sets a bit (or writes what else there is) and then reads asleep_.
/// All of these are sequentially consistent, so one of the two sees the other. Steps is how the
/// owner and the others meet (base/steps.hpp).
template <class Steps>
class inbox {
 public:
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t on_futex = 1;    ///< sleeps until word() changes and is woken
  static constexpr std::uint32_t in_poller = 2;   ///< in the poller's sleep()
  static constexpr std::uint32_t in_reactor = 3;  ///< in the reactor's sleep()

  explicit inbox(std::uint32_t positions) : signals(positions) {}

  /// After leaving something for the owner: what it was just before, and `awake` from here on. If
  /// that was anything else, the caller has to end the sleep, and nobody else does. Any thread.
  /// Hot.
  [[nodiscard]] std::uint32_t wake_up() noexcept {
    Steps::step();
    if (asleep_.load(std::memory_order_seq_cst) == awake) [[likely]] {
      return awake;
    }
    Steps::step();
    return asleep_.exchange(awake, std::memory_order_seq_cst);
  }

  /// The owner says how it is going to sleep; false if it must not, because there are signals or
  /// other() says so. In both cases it has to get_up(). Owner only.
  template <class Other>
  [[nodiscard]] bool lie_down(std::uint32_t how, Other other) noexcept {
    SINEW_EXPECT(how != awake && !is_asleep());
    Steps::step();
    asleep_.store(how, std::memory_order_seq_cst);
    return signals.empty() && !other();
  }
  /// False if it has been woken. Owner only.
  bool get_up() noexcept {
    Steps::step();
    // Relaxed: signals are taken with acquire, whoever brought them.
    return asleep_.exchange(awake, std::memory_order_relaxed) != awake;
  }
  [[nodiscard]] std::atomic<std::uint32_t>& word() noexcept { return asleep_; }
  /// A hint. Any thread.
  [[nodiscard]] bool is_asleep() const noexcept {
    return asleep_.load(std::memory_order_relaxed) != awake;
  }

 private:
  /// awake -> on_futex or in_poller by the owner, back by whoever wakes it or by the owner.
  alignas(64) std::atomic<std::uint32_t> asleep_{awake};

 public:
  alignas(64) signal_set<Steps> signals;
};

}  // namespace sinew::fiber
