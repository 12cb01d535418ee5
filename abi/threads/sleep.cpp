// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/sleep.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "abi/threads/moment.hpp"
#include "abi/threads/patience.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/signals.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::threads {

moment moment_in(const timespec& length) noexcept {
  constexpr std::int64_t longest_s = 1'000'000'000;  // 30 years
  const std::int64_t seconds = std::min<std::int64_t>(length.tv_sec, longest_s);
  return static_cast<moment>(now_ns() + seconds * 1'000'000'000 + length.tv_nsec);
}

moment moment_of(const timespec& t, clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  timespec left{t.tv_sec - now.tv_sec, t.tv_nsec - now.tv_nsec};
  if (left.tv_nsec < 0) {
    left.tv_nsec += 1'000'000'000;
    --left.tv_sec;
  }
  return left.tv_sec < 0 ? 0 : moment_in(left);
}

void sleep_until(moment until) noexcept {
  if (fiber::self() == nullptr) {
    const timespec at{static_cast<time_t>(until / 1'000'000'000),
                      static_cast<long>(until % 1'000'000'000)};
    raw_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, reinterpret_cast<long>(&at), 0);
    return;
  }
  fiber::sleeper nobody_wakes("sleep");
  (void)nobody_wakes.wait(until);
}

moment backoff::now() const noexcept { return static_cast<moment>(now_ns()); }

void backoff::wait() noexcept {
  constexpr unsigned yields = 20;
  constexpr std::uint64_t longest_ns = 1'000'000;
  if (++looks_ <= yields) {
    fiber::yield();  // signals are for the caller to look at
    return;
  }
  const int error = errno;
  sleep_until(now() + nap_ns_);
  errno = error;
  nap_ns_ = std::min(2 * nap_ns_, longest_ns);
}

namespace {

/// For the program's own calls: a cancellation point. False if the handler of a signal has run.
bool program_sleeps(moment until) {
  for (;;) {
    ::pthread_testcancel();
    if (wait_interruptibly("sleep", until) != woken::interrupted) {
      return true;
    }
    if (take_signals() != handled::nothing) {
      return false;
    }
  }
}

timespec time_until(moment end) noexcept {
  const auto now = static_cast<moment>(now_ns());
  const moment left = end > now ? end - now : 0;
  return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

}  // namespace

woken wait_interruptibly(const char* why, moment until) noexcept {
  const char address{};  // that nobody releases
  place nowhere(&address, why);
  nowhere.enter();
  return nowhere.wait(until);
}

}  // namespace sinew::threads

extern "C" {

int sched_yield() noexcept {
  // Where nobody of ours is ready, the processor may be wanted by others: by a thread of the
  // program on another worker, for instance, for which the caller waits in a loop.
  if (!sinew::threads::let_others_run()) {
    sinew::threads::raw_yield();
  }
  return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* length, timespec* left) {
  using namespace sinew::threads;
  come_back();
  if (sinew::fiber::self() == nullptr || !is_clock(clock)) {
    ::pthread_testcancel();
    return static_cast<int>(-raw_call(SYS_clock_nanosleep, clock, flags,
                                      reinterpret_cast<long>(length),
                                      reinterpret_cast<long>(left)));
  }
  if (!is_time(*length) || length->tv_sec < 0) {
    return EINVAL;
  }
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  const moment end = absolute ? moment_of(*length, clock) : moment_in(*length);
  if (program_sleeps(end)) {
    return 0;
  }
  if (!absolute && left != nullptr) {
    *left = time_until(end);
  }
  return EINTR;
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
  return nanosleep(&length, &left) == 0 ? 0 : static_cast<unsigned>(left.tv_sec);
}

}  // extern "C"
