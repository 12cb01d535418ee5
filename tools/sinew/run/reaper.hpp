// SPDX-License-Identifier: BSD-3-Clause
// A watchdog process that outlives the launcher just long enough to end what it left behind.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <functional>

#include "sinew/boot/descriptor.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::tool {

/// Sends a signal to a rank and to all of its process group; to the rank alone if it has left that
/// group (for the launcher's, say). The rank has not been reaped.
void signal_rank(pid_t pid, int signal) noexcept;

/// Reaps the children that have ended, ours and orphans. Each is given to `ended` while it is a
/// zombie still, so that its pid names no other process.
void reap_children(const std::function<void(const siginfo_t& child)>& ended);

/// The kernel kills a rank when the launcher dies, but not what the rank has started (a shell's
/// program, for instance). The reaper holds the read end of a pipe; when the launcher dies, even
/// by SIGKILL, it kills the process groups of all ranks and ends.
class reaper {
 public:
  explicit reaper(int ranks);
  reaper(const reaper&) = delete;
  reaper& operator=(const reaper&) = delete;
  /// Ends the ranks that still run, and the watchdog, also when that is stopped.
  ~reaper();

  /// The pid of rank `index`, 0 while it has none. The rank's process itself sets it, so that no
  /// moment is uncovered; the launcher sets it to 0 before it reaps.
  [[nodiscard]] std::atomic<pid_t>& pid_of(int index) const { return pids_[index]; }

 private:
  [[noreturn]] void watch(int input) const;
  void kill_ranks() const noexcept;

  boot::memory_mapping memory_;
  std::atomic<pid_t>* pids_ = nullptr;
  int ranks_;
  pid_t session_;
  boot::descriptor life_line_;
  pid_t pid_ = -1;
};

}  // namespace sinew::tool
