// SPDX-License-Identifier: BSD-3-Clause
// Whose turn it is. Ranks that have the turn run side by side; the simulator waits until each has
// handed over, or has ended, and then looks at what they want next.
//
// Invariants: a rank's time never goes back, and no rank is given a turn for a time before its own.
// What ranks have done is looked at in the order of their numbers, never in that in which they have
// handed over. A rank that sleeps gets its turn when it wants it, whatever comes meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/event_queue.hpp"
#include "sim/job_state.hpp"
#include "sim/messages.hpp"
#include "sinew/sim/simulator.hpp"

namespace sinew::sim {

class turns {
 public:
  /// All ranks have the turn.
  turns(job_state& job, event_queue& events, messages& mail);

  /// Until no rank runs, or one that does waits for something else than messages; false once
  /// stop() was called.
  bool await_ranks(const listeners& told);
  /// What those have done that had the turn.
  void collect();
  void give(const std::vector<int>& ranks);
  [[nodiscard]] bool some_run() const noexcept { return !running_.empty(); }
  /// Takes it into account that processes have ended: those that ended() names.
  void take_ended();
  /// The same of those that have the turn, if ended() names none that have died.
  void drop_ended();
  /// A short wait for stop(), or for a rank that comes back; at most so long.
  void nap(std::uint64_t longest_ns);

  // Any thread.
  void stop() noexcept;
  void ended(int rank, bool died) noexcept;

 private:
  [[nodiscard]] bool all_have_joined() const;
  [[nodiscard]] bool some_rank_computes() const;
  /// It has the turn no more, for ever. Its process has ended.
  void drop(int rank);
  void collect(int rank);

  job_state& job_;
  event_queue& events_;
  messages& mail_;
  std::vector<int> running_;  ///< that had the turn
  std::uint32_t woken_ = 0;
  bool told_of_computing_ = false;
  std::atomic<bool> stopped_{false};
  std::mutex ending_;  ///< guards ended_
  std::vector<std::pair<int, bool>> ended_;
  std::atomic<bool> any_ended_{false};
};

}  // namespace sinew::sim
