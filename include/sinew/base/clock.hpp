// Time: nanoseconds that never go back, and a cheaper counter for hot paths.
#pragma once

#include <chrono>
#include <cstdint>

namespace sinew {

inline constexpr std::int64_t second_ns = 1'000'000'000;

/// Nanoseconds since some fixed moment of this boot; the same on all processes of a node.
/// About 20-40 ns. Any context, also signal handlers. Hot enough for slow paths.
[[nodiscard]] inline std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

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

}  // namespace sinew
