// SPDX-License-Identifier: BSD-3-Clause
// The waiting of threads as it runs: waiting_core with this machine's locks, futexes and clock.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "core/waiting_core.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/base/spin.hpp"

namespace sinew::core {

/// No thread sleeps longer on a doorbell without a look: a report of a hang is no later than that,
/// nor is a condition noticed later that becomes true without progress.
constexpr std::uint64_t longest_sleep_ns = 10'000'000;
constexpr std::uint64_t monitor_period_ns = 500'000;

struct real_platform {
  using lock = base::lock;
  static void step() noexcept {}
  static void pause() noexcept {
    cpu_relax();  // Wait: the idler of whoever leads watches.
  }
  static void yield() noexcept {
    sched_yield();  // Wait: the idler of whoever leads watches.
  }
  template <class Nap>
  static void sleep(std::atomic<std::uint32_t>& word, Nap how) noexcept {
    if (how == Nap::until_woken) {
      // Wait: the idler of the last one awake watches for all.
      base::futex_wait(word, 0);
    } else {
      // Wait: the monitor takes the lead if nobody has it.
      base::futex_wait(word, 0, how == Nap::long_period ? longest_sleep_ns : monitor_period_ns);
    }
  }
  static void wake(const std::atomic<std::uint32_t>& word) noexcept { base::futex_wake(word, 1); }
};

using thread_waiting = waiting_core<real_platform>;

}  // namespace sinew::core
