// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of this machine do nothing: neither compute nor move a message, for long.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace sinew::tool {

/// What the threads of a process have used of processors, in ns; of one that has ended, 0.
[[nodiscard]] std::int64_t processor_time_of(pid_t process);

/// Looks seldom, by processor time alone: who waits in a call of ours sleeps soon. Cold.
class idle_watch {
 public:
  using clock_of_work = std::function<std::int64_t(pid_t process)>;
  /// `silence_ns`: that long; 0: it never looks.
  explicit idle_watch(std::int64_t silence_ns, clock_of_work worked = processor_time_of)
      : silence_ns_(silence_ns), worked_(std::move(worked)) {}

  void add(int rank, pid_t process);
  void remove(int rank) { ranks_.erase(rank); }
  /// Tells of each rank that has done nothing for another such time, and of each that does
  /// something again after that.
  void look(std::int64_t now, const std::function<void(int rank, bool idle)>& tell);
  /// Milliseconds from `now` to the next look; -1: none.
  [[nodiscard]] int wait_ms(std::int64_t now) const;

 private:
  struct watched {
    pid_t process;
    std::int64_t worked_ns;      ///< by the last look
    std::int64_t idle_since_ns;  ///< or told of last
    bool told;
  };

  std::int64_t silence_ns_;
  clock_of_work worked_;
  std::map<int, watched> ranks_;
  std::int64_t last_ns_ = 0;
};

}  // namespace sinew::tool
