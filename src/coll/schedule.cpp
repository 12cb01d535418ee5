// SPDX-License-Identifier: BSD-3-Clause
#include "coll/schedule.hpp"

#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::coll {

void schedule::make_room() {
  if (pending_.size() == pending_.capacity()) {
    pending_.reserve(2 * pending_.size() + 16);
  }
}

void schedule::send(const p2p::buffer& from, int dest) {
  SINEW_EXPECT(dest >= 0 && dest < comm_->size());
  if (fault_ != p2p::fault::none) [[unlikely]] {
    engine_.send_fault(*comm_, p2p::collectives_of(*comm_), fault_, comm_rank{dest}, tag_);
    return;
  }
  make_room();  // before there is something to be lost
  p2p::request* r = engine_.isend(*comm_, p2p::collectives_of(*comm_), from, comm_rank{dest}, tag_);
  if (r != nullptr) {
    pending_.push_back(r);
  }
}

void schedule::receive(const p2p::buffer& into, int source) {
  SINEW_EXPECT(source >= 0 && source < comm_->size());
  make_room();
  pending_.push_back(
      engine_.irecv(*comm_, p2p::collectives_of(*comm_), into, comm_rank{source}, tag_));
}

int schedule::advance(bool& over) noexcept {
  over = false;
  for (int steps = 0;; ++steps) {
    for (; ended_ < pending_.size(); ++ended_) {
      if (!pending_[ended_]->done()) {
        return steps;
      }
    }
    for (p2p::request* r : pending_) {
      note(r->outcome.error);
      engine_.release(r);
    }
    pending_.clear();
    ended_ = 0;
    next then = next::over;
    if (!broken_) {
      try {
        then = go_on();
      } catch (...) {
        failed();
        // What was started still refers to this object. A receive may never get its message.
        broken_ = true;
        for (p2p::request* r : pending_) {
          (void)engine_.cancel(*r);
        }
        then = next::wait;
      }
    }
    if (then == next::later) {
      return steps;
    }
    over = then == next::over;
    if (over) {
      SINEW_ENSURE(pending_.empty());  // nothing refers to it any more
      return steps + 1;
    }
  }
}

schedules::schedules(core::runtime& runtime) : runtime_(runtime) {
  // In the program's calls: it may call operations that the program has made.
  chore_ = runtime.add_chore([](void* self) { return static_cast<schedules*>(self)->advance(); },
                             this, core::chore_place::in_calls);
  SINEW_ENSURE(chore_ > 0);
}

void schedules::start(std::shared_ptr<schedule> s) {
  SINEW_EXPECT(s != nullptr && !s->pending());
  const base::guard held(lock, runtime_.threaded());
  running_.push_back(std::move(s));
  // Before its first receive is posted: who completes that one must look here afterwards.
  runtime_.want_chore(chore_, true);
  // It alone: many may be under way, and to look at all each time that one begins would take long.
  (void)advance(running_.size() - 1);
  rest_if_empty();
}

/// Lets the schedule go as far as it can, and what follows it; true if its place is empty then.
bool schedules::advance(std::size_t i) noexcept {
  SINEW_EXPECT(i < running_.size());
  bool over = false;
  steps_ += running_[i]->advance(over);
  while (over) {
    auto then = running_[i]->successor();
    if (then == nullptr) {
      running_[i] = std::move(running_.back());
      running_.pop_back();
      return true;
    }
    running_[i] = std::move(then);
    steps_ += running_[i]->advance(over);
  }
  return false;
}

void schedules::rest_if_empty() noexcept {
  if (running_.empty()) {
    runtime_.want_chore(chore_, false);
  }
}

// It waits for the lock instead of giving way: the holder may have looked at a request just before
// this thread completed it. Whoever holds the lock never waits for progress.
int schedules::advance() noexcept {
  const base::guard held(lock, runtime_.threaded());
  steps_ = 0;
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < running_.size();) {
      if (advance(i)) {
        again = true;  // it may have been in the way of others
      } else {
        ++i;
      }
    }
  }
  rest_if_empty();
  return steps_;
}

}  // namespace sinew::coll
