// SPDX-License-Identifier: BSD-3-Clause
// Sleeps. A virtual one is not ended by a signal, since it takes no real time.
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include <cerrno>

#include "abi/clock/clock.hpp"

namespace sinew::clock {
namespace {

constinit real_function real_nanosleep{"clock_nanosleep"};

/// As clock_nanosleep() with a length.
int sleep_for(std::int64_t length, timespec* left) {
  ::pthread_testcancel();
  if (length <= 0 || let_pass(length)) {
    return 0;
  }
  const std::int64_t since = now_ns();
  const timespec wanted = timespec_of(length);
  timespec rest{};
  const int code = real_nanosleep(CLOCK_MONOTONIC, 0, &wanted, &rest);
  see_at_least(since + length - (code == EINTR ? ns_of(rest) : 0));
  if (code == EINTR && left != nullptr) {
    *left = rest;
  }
  return code;
}

}  // namespace
}  // namespace sinew::clock

extern "C" {

int clock_nanosleep(clockid_t clock, int flags, const timespec* length, timespec* left) {
  using namespace sinew::clock;
  const kind of = kind_of(clock);
  if (of == kind::other) {
    return real_nanosleep(clock, flags, length, left);
  }
  if (!is_valid(*length) || length->tv_sec < 0) {
    return EINVAL;
  }
  if ((flags & TIMER_ABSTIME) != 0) {
    return sleep_for(moment_ns(*length) - now_ns(of), nullptr);
  }
  return sleep_for(ns_of(*length), left);
}

int nanosleep(const timespec* length, timespec* left) {
  const int code = clock_nanosleep(CLOCK_REALTIME, 0, length, left);
  errno = code == 0 ? errno : code;
  return code == 0 ? 0 : -1;
}

int usleep(useconds_t microseconds) {
  const timespec length{microseconds / 1'000'000, microseconds % 1'000'000 * 1000L};
  return nanosleep(&length, nullptr);
}

unsigned sleep(unsigned seconds) {
  const timespec length{seconds, 0};
  timespec left{};
  // What is left is rounded to the nearest second.
  return nanosleep(&length, &left) == 0
             ? 0
             : static_cast<unsigned>(left.tv_sec + (left.tv_nsec >= 500'000'000 ? 1 : 0));
}

int thrd_sleep(const timespec* length, timespec* left) {
  const int code = clock_nanosleep(CLOCK_REALTIME, 0, length, left);
  return code == 0 ? 0 : code == EINTR ? -1 : -2;
}

}  // extern "C"
