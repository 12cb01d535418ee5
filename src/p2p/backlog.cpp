// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/backlog.hpp"

#include <utility>

#include "p2p/peers.hpp"
#include "p2p/send.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::p2p {

backlog::backlog(core::runtime& rt, const peer_table& peers, sender& sends, bool threaded)
    : rt_(rt),
      peers_(peers),
      sends_(sends),
      threaded_(threaded),
      waits_(static_cast<std::size_t>(peers.size())) {}

// The attempt is made without the lock: a thread's own earlier sends are either gone or seen in the
// backlog, and between threads MPI promises no order.
void backlog::submit(operation& op) {
  SINEW_EXPECT(op.todo != step::nothing);
  queue* const known = waits_.make(op.peer.index());
  if (known == nullptr) [[unlikely]] {
    base::out_of_memory("remembering a message to another rank");
  }
  queue& q = *known;
  const bool is_answered = op.todo == step::send_rts || op.todo == step::send_sync;
  bool clear = false;
  {
    const base::guard held(lock_, threaded_);
    q.unanswered += is_answered ? 1 : 0;
    if (is_answered && peers_.outlives(op.peer)) [[unlikely]] {
      unanswered_.push_back(&op);
    }
    clear = q.first == nullptr && !q.draining;
  }
  if (clear && sends_.attempt(op)) {
    return;
  }
  op.next = nullptr;
  const base::guard held(lock_, threaded_);
  SINEW_ASSERT(q.first == nullptr || q.last->next == nullptr);
  (q.first == nullptr ? q.first : q.last->next) = &op;
  q.last = &op;
  if ((peers_.slow(op.peer).get() & slow_bits::backlogged) == 0) {
    peers_.slow(op.peer).set(slow_bits::backlogged);
    q.rank = op.peer;
    q.next_listed = std::exchange(first_listed_, &q);
    ++backlogged_;
    rt_.want_chore(true);
  }
}

// By the poller only, so nobody else takes from a queue. Those that still find no room are listed
// again; meanwhile their bit tells others that they need not be.
int backlog::retry() {
  queue* due = nullptr;
  {
    const base::guard held(lock_, threaded_);
    due = std::exchange(first_listed_, nullptr);
  }
  int done = 0;
  while (due != nullptr) {
    queue& q = *due;
    due = q.next_listed;
    done += retry(q);
  }
  return done;
}

// An operation may be gone after a successful attempt: it leaves the queue before, and goes back to
// its front if there was no room.
int backlog::retry(queue& q) {
  for (int done = 0;; ++done) {
    operation* first = nullptr;
    {
      const base::guard held(lock_, threaded_);
      first = q.first;
      q.draining = first != nullptr;
      if (first == nullptr) {
        peers_.slow(q.rank).clear(slow_bits::backlogged);
        SINEW_ASSERT(backlogged_ > 0);
        if (--backlogged_ == 0) {
          rt_.want_chore(false);
        }
        return done;
      }
      q.first = first->next;
    }
    if (!sends_.attempt(*first)) {
      const base::guard held(lock_, threaded_);
      first->next = q.first;
      if (q.first == nullptr) {
        q.last = first;
      }
      q.first = first;
      q.draining = false;
      q.next_listed = std::exchange(first_listed_, &q);
      return done;
    }
  }
}

bool backlog::answered(const operation& op, job_rank by) noexcept {
  queue* const q = waits_.find(by.index());
  SINEW_EXPECT(q != nullptr);
  const base::guard held(lock_, threaded_);
  if (peers_.outlives(by) && std::erase(unanswered_, &op) == 0) {
    return false;
  }
  SINEW_ASSERT(q->unanswered > 0);
  --q->unanswered;
  return true;
}

bool backlog::waits_for(job_rank peer) noexcept {
  const queue* const q = waits_.find(peer.index());
  if (q == nullptr) {
    return false;
  }
  const base::guard held(lock_, threaded_);
  return q->draining || q->first != nullptr || q->unanswered != 0 ||
         (peers_.slow(peer).get() & slow_bits::backlogged) != 0;
}

bool backlog::waits_for_room(const operation& op) noexcept {
  const operation* at = waits_.find(op.peer.index())->first;
  while (at != nullptr && at != &op) {
    at = at->next;
  }
  return at != nullptr;
}

void backlog::take(job_rank peer, std::vector<operation*>& to) {
  queue* const q = waits_.find(peer.index());
  if (q == nullptr) {
    return;
  }
  const base::guard held(lock_, threaded_);
  if (!q->draining) {
    for (operation* op = q->first; op != nullptr; op = op->next) {
      to.push_back(op);
    }
    q->first = nullptr;  // retry() sees that it is empty
  }
  take_some(to, [&](const operation& op) { return op.peer == peer; });
}

std::string backlog::describe() {
  std::string text;
  waits_.each([&](std::size_t rank, const queue& q) {
    const base::guard held(lock_, threaded_);
    if (q.unanswered != 0) {
      text += "\n  sends to rank " + std::to_string(rank) +
              " whose receive has not been posted: " + std::to_string(q.unanswered);
    }
    if (q.first != nullptr) {
      text +=
          "\n  sends to rank " + std::to_string(rank) + " that find no room: it makes no progress";
    }
  });
  return text;
}

}  // namespace sinew::p2p
