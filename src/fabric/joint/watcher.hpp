// SPDX-License-Identifier: BSD-3-Clause
// Wakes a sleeper of the near endpoint when the far one has something. A rank cannot sleep on a
// word of shared memory and on a file descriptor at once, so a thread does the second for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "fabric/vain_wakes.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric::joint {

class watcher {
 public:
  /// Does nothing yet. Descriptor and endpoint outlive it. Throws.
  watcher(int events, endpoint& sleeper);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// From now on, once: calls wake() of the sleeper when the descriptor is readable; somewhat later
  /// if it was the last times, and `happened` says that there was nothing to do. If it still
  /// watches, nothing. Throws where no thread can be had. Warm.
  void watch(std::uint64_t happened);

 private:
  void run();
  void rest() noexcept;

  enum : std::uint32_t { idle, watching, ending };

  int events_;
  int end_;  ///< an event descriptor: the thread is to end
  endpoint& sleeper_;
  /// What the thread does. Sleepers set `watching`, the thread sets `idle` before it wakes the
  /// sleeper, who thus sees it afterwards. Release and acquire: what was seen on the descriptor
  /// stays seen by whoever finds it idle.
  std::atomic<std::uint32_t> now_{idle};
  vain_wakes vain_;             ///< the sleeper's
  std::uint64_t pause_ns_ = 0;  ///< before the thread looks; written before `watching`
  std::thread thread_;          ///< from the first watch() on
};

}  // namespace sinew::fabric::joint
