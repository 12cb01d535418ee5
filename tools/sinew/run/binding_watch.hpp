// SPDX-License-Identifier: BSD-3-Clause
// Ranks that were bound because they fill the node: whether their processors suffice them. A rank
// that is bound cannot go where a processor is free, so beside other load, or more threads of its
// own, it waits, and all ranks wait for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace sinew::tool {

/// For how long, in nanoseconds, a process and those that it has started (a script's program) have
/// been ready to run and have not run: their first threads. 0 where the kernel does not say it
/// (/proc/PID/schedstat).
[[nodiscard]] std::int64_t time_in_run_queue(pid_t pid);

/// Gives `cpus` to all threads of these processes that have those of `bound` now: what the program
/// has chosen for its threads itself stays.
void release_threads(pid_t pid, const std::vector<int>& bound, const std::vector<int>& cpus);

/// Looks seldom, and the more seldom the longer nobody waits. Grade: cold.
class binding_watch {
 public:
  using clock_of_waits = std::function<std::int64_t(pid_t pid)>;
  explicit binding_watch(clock_of_waits waited = time_in_run_queue) : waited_(std::move(waited)) {}

  /// From now on; with the processors that it was bound to.
  void add(pid_t pid, std::vector<int> cpus);
  void remove(pid_t pid) { ranks_.erase(pid); }
  /// Whether a rank waits for its processors. Then, and when no rank is left, it
  /// does not look any more.
  [[nodiscard]] bool look(std::int64_t now_ns);
  /// Milliseconds from `now_ns` to the next look; -1: none.
  [[nodiscard]] int wait_ms(std::int64_t now_ns) const;
  /// Lets all go to `cpus`.
  void release(const std::vector<int>& cpus);

 private:
  struct bound_rank {
    std::vector<int> cpus;
    std::int64_t waited_ns = 0;  // by the last look
  };

  clock_of_waits waited_;
  std::map<pid_t, bound_rank> ranks_;
  std::int64_t last_ns_ = 0;
  std::int64_t next_ns_ = 0;  // 0: it has not looked yet
};

}  // namespace sinew::tool
