// How a waiter spends the time in which nothing arrives.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "sinew/base/clock.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::core {

// An idle virtual core takes tens of microseconds to wake, so a waiter spins first and sleeps
// late; with more ranks than processors it gives its processor away almost at once.
inline setting<std::int64_t> spin_us("core", "spin_us", 20, "us",
                                     "how long a waiter polls without pause before it yields",
                                     {.least = 0, .most = most_setting_us});
inline setting<std::int64_t> yield_us("core", "yield_us", 2000, "us",
                                      "how long a waiter polls and yields before it sleeps",
                                      {.least = 0, .most = most_setting_us});
inline setting<std::int64_t> crowded_yield_us("core", "crowded_yield_us", 100, "us",
                                              "the same with more ranks than processors",
                                              {.least = 0, .most = most_setting_us});
inline setting<double> hang_timeout(
    "core", "hang_timeout", 0.0, "s",
    "after this long in one wait, print what is waited for (0: never)", {.least = 0, .most = 1e9});

/// When the job's time is up; 0: never.
inline const std::int64_t time_is_up_ns = [] {
  const char* const text = std::getenv(boot::launcher_wire::report_at);
  return text != nullptr ? static_cast<std::int64_t>(std::strtoll(text, nullptr, 10)) : 0;
}();
inline bool watches_hangs() noexcept { return hang_timeout() > 0 || time_is_up_ns != 0; }
inline bool is_hang(std::int64_t waited_ns) noexcept {
  return hang_timeout() > 0 && static_cast<double>(waited_ns) > hang_timeout() * 1e9;
}

constexpr std::uint64_t longest_sleep_ns = 10'000'000;
/// While more threads are awake than processors: looks before a thread parks. A switch costs 2 to
/// 3 us here, an answer from a thread that runs on another processor 0.2 to 1: several microseconds
/// of looking keep two such threads together.
constexpr std::uint32_t looks_in_crowd = 512;

/// What a waiter does between looks that found nothing: look again, yield, rest, in that order; and
/// it watches for a wait that does not end.
class runtime::idler {
 public:
  enum class next { look, yield, rest };

  explicit idler(runtime& rt) noexcept : rt_(rt) {}

  void busy() noexcept { quiet_rounds_ = 0; }

  /// No pause instruction: on some processors it lasts longer than a round of progress. (Here, no
  /// difference could be measured.)
  next quiet() noexcept {
    ++quiet_rounds_;
    const std::uint32_t first_look = rt_.crowded_ ? 8 : 64;
    if (quiet_rounds_ < first_look || (!rt_.crowded_ && quiet_rounds_ % first_look != 0)) {
      return next::look;
    }
    now_ = now_ns();
    if (quiet_rounds_ == first_look) {
      quiet_since_ = now_;
      started_ = started_ == 0 ? now_ : started_;
    }
    const std::uint64_t quiet_us = (now_ - quiet_since_) / 1000;
    const auto spin = static_cast<std::uint64_t>(rt_.crowded_ ? 0 : spin_us());
    const auto yield =
        spin + static_cast<std::uint64_t>(rt_.crowded_ ? crowded_yield_us() : yield_us());
    return quiet_us >= yield ? next::rest : quiet_us >= spin ? next::yield : next::look;
  }

  /// The same while other threads of ours want this processor. Counts every look, whether or not
  /// it brought something for others.
  next among_others(std::uint32_t looks) noexcept {
    return ++rounds_ <= looks ? next::look : next::rest;
  }

  void sleep() {
    rt_.endpoint_->sleep(longest_sleep_ns);
    if (watches_hangs()) {
      watch();
    }
  }

 private:
  void watch() {
    if (told_) {
      return;
    }
    now_ = now_ns();
    started_ = started_ == 0 ? now_ : started_;
    told_ = rt_.told_of_hang(is_hang(static_cast<std::int64_t>(now_ - started_)),
                             "has waited for SINEW_CORE_HANG_TIMEOUT and still waits");
  }

  runtime& rt_;
  std::uint32_t quiet_rounds_ = 0;
  std::uint32_t rounds_ = 0;
  std::uint64_t quiet_since_ = 0;
  std::uint64_t now_ = 0;
  std::uint64_t started_ = 0;
  bool told_ = false;
};

}  // namespace sinew::core
