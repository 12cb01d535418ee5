// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/clock.hpp"

#include <time.h>

#include <atomic>
#include <cerrno>

#include "sinew/base/clock_follower.hpp"
#include "sinew/base/spin.hpp"

namespace sinew {

constinit std::atomic<time_source*> detail::time_in_use{nullptr};

namespace {

time_source* source_in_use() noexcept {
  return detail::time_in_use.load(std::memory_order_relaxed);
}

// What libsinew_clock.so asks. A thread may come while the source is being taken back.
constexpr sinew_followed_clock source_for_programs{
    .now_ns = []() noexcept -> std::int64_t {
      time_source* const source = source_in_use();
      return source != nullptr ? source->now_ns() : 0;
    },
    .sleep_ns = [](std::int64_t length) noexcept -> int {
      time_source* const source = source_in_use();
      if (source == nullptr || !source->lets_caller_sleep()) {
        return 0;
      }
      source->sleep_ns(length);
      return 1;
    }};

void tell_follower(const sinew_followed_clock* clock) noexcept {
  if (&::sinew_clock_follow != nullptr) {
    ::sinew_clock_follow(clock);
  }
}

// One moment seen on both clocks.
struct reading {
  std::uint64_t ticks;
  std::int64_t ns;
};

// The counter is read on both sides of the clock; of a few tries the tightest is kept, so that an
// interruption between the reads does not spoil the pair.
reading observe() noexcept {
  reading best{};
  std::uint64_t tightest = UINT64_MAX;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::uint64_t before = ticks();
    const std::int64_t ns = detail::system_now_ns();
    const std::uint64_t after = ticks();
    if (after - before < tightest) {
      tightest = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}

constexpr std::int64_t shortest_span_ns = 20'000;

struct calibration {
  reading start = observe();
  // Both relaxed: a reader that sees an old rate sees a good one; refining twice is harmless.
  std::atomic<double> rate{0};
  std::atomic<std::uint64_t> refine_at{0};

  double refine() noexcept {
    reading now = observe();
    while (now.ns - start.ns < shortest_span_ns) {
      cpu_relax();
      now = observe();
    }
    const std::uint64_t span = now.ticks - start.ticks;
    const double value =
        span == 0 ? 1.0 : static_cast<double>(now.ns - start.ns) / static_cast<double>(span);
    rate.store(value, std::memory_order_relaxed);
    refine_at.store(now.ticks + span * 4, std::memory_order_relaxed);
    return value;
  }
};

calibration& calibrated() noexcept {
  static calibration one;
  return one;
}

// Starts the span when the program starts, so that the first conversion usually need not spin.
[[maybe_unused]] const calibration& early = calibrated();

}  // namespace

time_from::time_from(time_source& source) noexcept {
  detail::time_in_use.store(&source, std::memory_order_relaxed);
  tell_follower(&source_for_programs);
}

time_from::~time_from() {
  tell_follower(nullptr);
  detail::time_in_use.store(nullptr, std::memory_order_relaxed);
}

std::int64_t processor_ns() noexcept {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<std::int64_t>(used.tv_sec) * second_ns + used.tv_nsec;
}

void sleep_ns(std::int64_t length) noexcept {
  if (length <= 0) {
    return;
  }
  if (time_source* const other = source_in_use(); other != nullptr && other->lets_caller_sleep()) {
    return other->sleep_ns(length);
  }
  timespec left{length / second_ns, length % second_ns};
  // Wait: the caller's reason. A signal does not end it early.
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

double ns_per_tick() noexcept {
  calibration& state = calibrated();
  const double rate = state.rate.load(std::memory_order_relaxed);
  if (rate == 0 || ticks() > state.refine_at.load(std::memory_order_relaxed)) {
    return state.refine();
  }
  return rate;
}

double ns_per_moment() noexcept {
  return detail::time_in_use.load(std::memory_order_relaxed) == nullptr ? ns_per_tick() : 1.0;
}

std::int64_t ticks_to_ns(std::uint64_t count) noexcept {
  return static_cast<std::int64_t>(static_cast<double>(count) * ns_per_tick());
}

std::uint64_t ns_to_ticks(std::int64_t ns) noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(ns < 0 ? 0 : ns) / ns_per_tick());
}

}  // namespace sinew
