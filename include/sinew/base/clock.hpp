// SPDX-License-Identifier: BSD-3-Clause
// Time: nanoseconds that never go back, and a cheaper counter for hot paths.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

/// Of libsinew_clock.so, where that is loaded in front of the program: the system's time, past what
/// it shows to programs instead. Else null.
extern "C" [[gnu::weak]] int sinew_clock_real(clockid_t clock, timespec* now) noexcept;

namespace sinew {

inline constexpr std::int64_t second_ns = 1'000'000'000;

/// What tells the time and lets it pass. Its functions are called by any thread at once, also from
/// signal handlers.
class time_source {
 public:
  time_source() = default;
  virtual ~time_source() = default;
  time_source(const time_source&) = delete;
  time_source& operator=(const time_source&) = delete;
  [[nodiscard]] virtual std::int64_t now_ns() noexcept = 0;
  /// Returns when that long has passed.
  virtual void sleep_ns(std::int64_t length) noexcept = 0;
  /// Can the calling thread let time pass by sleep_ns()? If not, it sleeps as long as the system
  /// says, and this source's time does not move.
  [[nodiscard]] virtual bool lets_caller_sleep() noexcept { return true; }
};

namespace detail {
/// Null: the system tells the time. Set before threads read the time, and taken back after them,
/// so relaxed is enough. One in a process, however many of our libraries it has.
extern constinit std::atomic<time_source*> time_in_use;

[[nodiscard]] inline std::int64_t system_now_ns() noexcept {
  timespec now;
  if (&::sinew_clock_real != nullptr) [[unlikely]] {
    ::sinew_clock_real(CLOCK_MONOTONIC, &now);
  } else {
    ::clock_gettime(CLOCK_MONOTONIC, &now);
  }
  return std::int64_t{now.tv_sec} * second_ns + now.tv_nsec;
}
}  // namespace detail

/// Puts a source in the system's place while this object lives, for now_ns() and sleep_ns(), and
/// for the program's own clocks where libsinew_clock.so is loaded; ticks() goes on to count what
/// the machine takes. One at a time, made and destroyed while no other thread uses Sinew. Cold.
class time_from {
 public:
  explicit time_from(time_source& source) noexcept;
  ~time_from();
  time_from(const time_from&) = delete;
  time_from& operator=(const time_from&) = delete;
};

/// Nanoseconds since some fixed moment of this boot; the same on all processes of a node.
/// About 20-40 ns. Any context, also signal handlers. Hot enough for slow paths.
[[nodiscard]] inline std::int64_t now_ns() noexcept {
  if (time_source* const other = detail::time_in_use.load(std::memory_order_relaxed);
      other != nullptr) [[unlikely]] {
    return other->now_ns();
  }
  return detail::system_now_ns();
}

/// Suspends the calling thread, and all its fibers, for that long. For set-up and shutdown, between
/// two looks at what another process does; a rank at work waits by core's waits. Cold.
void sleep_ns(std::int64_t length) noexcept;

/// Processor time that this process has used, in all its threads. A call of the system, 200 ns. Any
/// context. Warm.
[[nodiscard]] std::int64_t processor_ns() noexcept;

/// The core's own counter (x86: time-stamp counter; arm64: the virtual timer), which runs at a
/// constant rate on every machine of the last ten years. Not ordered with loads and stores around
/// it. About 10 ns. Hot.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return (static_cast<std::uint64_t>(high) << 32) | low;
#elif defined(__aarch64__)
  std::uint64_t value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

/// Length of a tick. The first call spins for at most 20 us if the program is younger than that,
/// never sleeps; later calls refine the value as the program grows older (within 0.5% at first,
/// 0.01% after a second). Any thread. Warm.
[[nodiscard]] double ns_per_tick() noexcept;

/// Nanoseconds that `count` ticks last, and ticks that last `ns`. Warm.
[[nodiscard]] std::int64_t ticks_to_ns(std::uint64_t count) noexcept;
[[nodiscard]] std::uint64_t ns_to_ticks(std::int64_t ns) noexcept;

/// What lengths of time are measured by that are short, or many: ticks(), but the nanoseconds of
/// another source where one tells the time. Hot.
[[nodiscard]] inline std::int64_t moment() noexcept {
  time_source* const other = detail::time_in_use.load(std::memory_order_relaxed);
  return other == nullptr ? static_cast<std::int64_t>(ticks()) : other->now_ns();
}
/// As ns_per_tick(). Warm.
[[nodiscard]] double ns_per_moment() noexcept;

}  // namespace sinew
