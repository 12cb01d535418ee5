// SPDX-License-Identifier: BSD-3-Clause
// What could not leave at once, and what waits for an answer, by the rank that it is for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "p2p/lazy_pages.hpp"
#include "p2p/operation.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::p2p {

class peer_table;
class sender;

/// Its lock guards all that it keeps. Invariant: the `backlogged` bit of a rank (peer_table::slow)
/// is set exactly while the rank is listed or the poller looks at it, and then later sends wait
/// behind the earlier ones: what one thread submits to one rank leaves in that order. Any thread.
class backlog {
 public:
  /// Throws std::bad_alloc.
  backlog(core::runtime& rt, const peer_table& peers, sender& sends, bool threaded);

  /// From now on submit() finds memory for that rank. False: there is none.
  [[nodiscard]] bool know(job_rank peer) noexcept { return waits_.make(peer.index()) != nullptr; }
  /// The next step of `op`, now or when there is room: behind the backlog of its rank, if there is
  /// one. The operation may be gone afterwards. Without memory it ends the job, see know().
  void submit(operation& op);
  /// Tries again. In the poller. How many steps were taken.
  int retry();
  [[nodiscard]] bool is_empty() noexcept {
    const base::guard held(lock_, threaded_);
    return backlogged_ == 0;
  }
  /// Whether anything waits for room at that rank, or for its answer.
  [[nodiscard]] bool waits_for(job_rank peer) noexcept;
  /// For a person who looks for what does not go on; "" if there is nothing.
  [[nodiscard]] std::string describe();

  // --- sends that their receiver answers ---

  /// One that the network matches. For a rank that is known.
  void expect_answer(job_rank peer) noexcept { count(peer, +1); }
  void end_answer(job_rank peer) noexcept { count(peer, -1); }
  /// The answer has come to an operation that was submitted. False: it has ended with a fault
  /// meanwhile, and must not be touched.
  [[nodiscard]] bool answered(const operation& op, job_rank by) noexcept;

  // --- where ranks die ---

  /// Removes what waits for that rank, and appends it.
  void take(job_rank peer, std::vector<operation*>& to);
  /// The same of what waits for an answer and nothing else, where which(op).
  template <class Which>
  void take_unanswered(std::vector<operation*>& to, Which which) {
    const base::guard held(lock_, threaded_);
    take_some(to, which);
  }

 private:
  /// What waits for one rank.
  struct queue {
    std::uint32_t unanswered = 0;  ///< sends that it has not matched (for diagnosis)
    job_rank rank = no_job_rank;   ///< known once it is listed
    bool draining = false;         ///< the first has been taken out to be tried
    operation* first = nullptr;    ///< to be tried next
    operation* last = nullptr;
    queue* next_listed = nullptr;
  };

  void count(job_rank peer, int by) noexcept {
    queue* const q = waits_.find(peer.index());
    SINEW_EXPECT(q != nullptr);
    const base::guard held(lock_, threaded_);
    SINEW_ASSERT(by > 0 || q->unanswered > 0);
    q->unanswered += static_cast<std::uint32_t>(by);
  }
  int retry(queue& q);
  /// Under the lock.
  [[nodiscard]] bool waits_for_room(const operation& op) noexcept;
  template <class Which>
  void take_some(std::vector<operation*>& to, Which which);

  core::runtime& rt_;
  const peer_table& peers_;
  sender& sends_;
  const bool threaded_;
  lazy_pages<queue, 128> waits_;   ///< by rank
  base::lock lock_;                ///< guards what follows, and the queues
  queue* first_listed_ = nullptr;  ///< of those with a backlog, but for whom the poller looks at
  int backlogged_ = 0;             ///< ranks with a backlog
  std::vector<operation*> unanswered_;  ///< kept where ranks may die
};

// Those that wait for room are left to the queue.
template <class Which>
void backlog::take_some(std::vector<operation*>& to, Which which) {
  const auto its = std::stable_partition(
      unanswered_.begin(), unanswered_.end(),
      [&](const operation* op) { return !which(*op) || waits_for_room(*op); });
  for (auto at = its; at != unanswered_.end(); ++at) {
    --waits_.find((*at)->peer.index())->unanswered;
    if (std::find(to.begin(), to.end(), *at) == to.end()) {
      to.push_back(*at);
    }
  }
  unanswered_.erase(its, unanswered_.end());
}

}  // namespace sinew::p2p
