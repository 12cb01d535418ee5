// SPDX-License-Identifier: BSD-3-Clause
// One rank of a job of the event module, be it a thread or a process.
#pragma once

#include <atomic>

#include "sinew/base/ids.hpp"
#include "sinew/event/system.hpp"
#include "support/job.hpp"
#include "support/launched.hpp"

namespace sinew::test {

/// Where ranks meet without the module's help. Each has a counter of its own, so that one that runs
/// ahead is not taken for another that is missing.
struct meeting_place {
  static constexpr int most_ranks = 16;
  std::atomic<int> came[most_ranks];   ///< by rank: to how many meetings
  std::atomic<bool> dead[most_ranks];  ///< set once the rank's process is gone for good
};

struct event_member {
  core::runtime& runtime;
  event::system& events;
  meeting_place& place;
  int rank;
  int size;

  [[nodiscard]] job_rank next() const { return job_rank{(rank + 1) % size}; }
  template <class Ready>
  void until(Ready ready) const {
    poll_until(runtime, ready);
  }
  /// All ranks that are alive are here; they make progress meanwhile.
  void meet() const {
    const int mine = place.came[rank].fetch_add(1) + 1;
    for (int r = 0; r < size; ++r) {
      until([&] { return place.dead[r].load() || place.came[r].load() >= mine; });
    }
  }
  /// Like meet(), and what was under way between ranks has arrived. Messages of handlers, too, if
  /// they were answers to answers no longer than five.
  void settle() const {
    for (int i = 0; i < 6; ++i) {
      meet();
      drain(runtime);
      runtime.outlast_rounds();  // another thread may be at a handler
    }
  }
};

}  // namespace sinew::test
