// SPDX-License-Identifier: BSD-3-Clause
#include "abi/clock/clock.hpp"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "sinew/base/clock_follower.hpp"

namespace sinew::clock {
namespace {

/// Of each reading while time stands still, so that a loop of readings ends; as the back-end `sim`.
constexpr std::int64_t reading_ns = 20;

/// Null: time stands still, at `still_at`. Acquire and release, for what it points to and for that.
constinit std::atomic<const sinew_followed_clock*> followed{nullptr};
constinit std::atomic<std::int64_t> still_at{0};
/// The last time that this thread has seen.
constinit thread_local std::int64_t seen = -1;

}  // namespace

kind kind_of(clockid_t clock) noexcept {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
      return kind::date;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
      return kind::monotonic;
    default:
      return kind::other;
  }
}

std::int64_t now_ns() noexcept {
  const sinew_followed_clock* const clock = followed.load(std::memory_order_acquire);
  const std::int64_t here =
      clock != nullptr ? clock->now_ns() : still_at.load(std::memory_order_relaxed);
  seen = here > seen ? here : seen + reading_ns;
  return seen;
}

bool let_pass(std::int64_t length) noexcept {
  const sinew_followed_clock* const clock = followed.load(std::memory_order_acquire);
  if (clock == nullptr) {
    return false;
  }
  const std::int64_t until = now_ns() + length;
  if (clock->sleep_ns(length) == 0) {
    return false;
  }
  see_at_least(until);
  return true;
}

void see_at_least(std::int64_t time) noexcept { seen = std::max(seen, time); }

void has_waited(std::int64_t since, std::int64_t length) noexcept {
  if (!let_pass(length)) {
    see_at_least(since + length);
  }
}

}  // namespace sinew::clock

extern "C" {

void sinew_clock_follow(const sinew_followed_clock* clock) noexcept {
  using namespace sinew::clock;
  if (clock == nullptr) {
    still_at.store(now_ns(), std::memory_order_relaxed);
  }
  followed.store(clock, std::memory_order_release);
}

int sinew_clock_real(clockid_t clock, timespec* now) noexcept {
  return static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  using namespace sinew::clock;
  const kind of = kind_of(clock);
  if (of == kind::other) {
    return sinew_clock_real(clock, now);
  }
  *now = timespec_of(now_ns(of));
  return 0;
}

int gettimeofday(timeval* __restrict now, void* __restrict zone) noexcept {
  using namespace sinew::clock;
  const timespec here = timespec_of(now_ns(kind::date));
  *now = {here.tv_sec, here.tv_nsec / 1000};
  if (zone != nullptr) {
    *static_cast<struct timezone*>(zone) = {};
  }
  return 0;
}

time_t time(time_t* now) noexcept {
  using namespace sinew::clock;
  const time_t here = timespec_of(now_ns(kind::date)).tv_sec;
  if (now != nullptr) {
    *now = here;
  }
  return here;
}

int timespec_get(timespec* now, int base) noexcept {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

}  // extern "C"
