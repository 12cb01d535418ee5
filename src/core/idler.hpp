// SPDX-License-Identifier: BSD-3-Clause
// The edge of idle_pace: settings, clock, doorbell; and it watches for a wait that does not end.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "core/runtime_impl.hpp"
#include "core/wait_policy.hpp"
#include "core/wait_teller.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/boot/launcher_wire.hpp"

namespace sinew::core {

// An idle virtual core takes tens of microseconds to wake, so a waiter spins first and sleeps
// late; with more ranks than processors it gives its processor away almost at once.
inline setting<std::int64_t> spin_us("core", "spin_us", 20, "us",
                                     "how long a waiter polls without pause before it yields",
                                     {.least = 0, .most = most_setting_us}, setting_use::each_use);
inline setting<std::int64_t> yield_us("core", "yield_us", 2000, "us",
                                      "how long a waiter polls and yields before it sleeps",
                                      {.least = 0, .most = most_setting_us}, setting_use::each_use);
inline setting<std::int64_t> crowded_yield_us("core", "crowded_yield_us", 100, "us",
                                              "the same with more ranks than processors",
                                              {.least = 0, .most = most_setting_us},
                                              setting_use::each_use);
inline setting<double> hang_timeout(
    "core", "hang_timeout", 0.0, "s",
    "after this long in one wait, print what is waited for (0: never)", {.least = 0, .most = 1e9},
    setting_use::each_use);

/// When the job's time is up; 0: never.
inline const std::int64_t time_is_up_ns = [] {
  const char* const text = std::getenv(boot::launcher_wire::report_at);
  return text != nullptr ? static_cast<std::int64_t>(std::strtoll(text, nullptr, 10)) : 0;
}();
inline bool watches_hangs() noexcept { return hang_timeout() > 0 || time_is_up_ns != 0; }
inline bool is_hang(std::int64_t waited_ns) noexcept {
  SINEW_EXPECT(waited_ns >= 0);
  return hang_timeout() > 0 && static_cast<double>(waited_ns) > hang_timeout() * 1e9;
}

/// Of one wait. The Clock of its idle_pace, and its sleep on the doorbell.
class runtime::impl::idler {
 public:
  /// `waited`: the completion, or the condition's context.
  idler(impl& rt, const void* waited) noexcept : rt_(rt), waited_(waited) {}

  [[nodiscard]] std::uint64_t now_ns() noexcept {
    const auto now = static_cast<std::uint64_t>(sinew::now_ns());
    started_ = started_ == 0 ? now : started_;
    return now;
  }
  [[nodiscard]] silence_limits limits() const noexcept {
    const auto spin = static_cast<std::uint64_t>(rt_.crowded_ ? 0 : spin_us());
    return {spin,
            spin + static_cast<std::uint64_t>(rt_.crowded_ ? crowded_yield_us() : yield_us())};
  }

  /// Since `quiet_since` nothing has happened; 0: not for long.
  void sleep(std::uint64_t quiet_since) {
    rt_.sleep_at_the_doorbell(longest_sleep_ns);
    rt_.teller_->look(waited_, started_, quiet_since);
    if (watches_hangs() || rt_.endpoint_->knows_deadlock()) {
      watch();
    }
  }

 private:
  void watch() {
    if (reported_) {
      return;
    }
    if (rt_.endpoint_->knows_deadlock()) {
      rt_.report("waits, as all others do, and nothing is under way");
      reported_ = true;
      return;
    }
    const std::uint64_t now = now_ns();
    SINEW_ASSERT(now >= started_);
    reported_ = rt_.report_hang(is_hang(static_cast<std::int64_t>(now - started_)),
                                "has waited for SINEW_CORE_HANG_TIMEOUT and still waits");
  }

  impl& rt_;
  const void* waited_;
  std::uint64_t started_ = 0;  ///< when the clock was read first; 0: not yet
  bool reported_ = false;
};

}  // namespace sinew::core
