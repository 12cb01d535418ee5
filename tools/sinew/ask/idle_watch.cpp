// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/idle_watch.hpp"

#include <algorithm>
#include <ctime>

#include "sinew/base/clock.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t looks_in_silence = 8;
/// Of the time between two looks: who waits wakes up now and then.
constexpr std::int64_t most_work = 50;

}  // namespace

std::int64_t processor_time_of(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    return 0;
  }
  return used.tv_sec * second_ns + used.tv_nsec;
}

void idle_watch::add(int rank, pid_t process) {
  if (silence_ns_ != 0) {
    ranks_[rank] = {process, 0, now_ns(), false};
  }
}

void idle_watch::look(std::int64_t now, const std::function<void(int rank, bool idle)>& tell) {
  if (wait_ms(now) != 0) {
    return;
  }
  const std::int64_t most_ns = (now - last_ns_) / most_work;
  last_ns_ = now;
  for (auto& [rank, of] : ranks_) {
    const std::int64_t worked = worked_(of.process);
    const bool works = worked - of.worked_ns > most_ns;
    of.worked_ns = worked;
    if (works) {
      of.idle_since_ns = now;
      if (std::exchange(of.told, false)) {
        tell(rank, false);
      }
    } else if (now - of.idle_since_ns >= silence_ns_) {
      of.idle_since_ns = now;
      of.told = true;
      tell(rank, true);
    }
  }
}

int idle_watch::wait_ms(std::int64_t now) const {
  if (ranks_.empty()) {
    return -1;
  }
  const std::int64_t left = last_ns_ + silence_ns_ / looks_in_silence - now;
  return left <= 0 ? 0 : static_cast<int>(left / 1'000'000 + 1);
}

}  // namespace sinew::tool
