#include "coll/schedule.hpp"

#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::coll {

void schedule::send(const void* from, std::size_t bytes, int dest) {
  SINEW_EXPECT(pending_count_ < most_pending);
  p2p::request* r =
      engine_.isend(*comm_, *comm_->collectives, p2p::buffer::of_bytes(from, bytes), dest, tag_);
  if (r != nullptr) {
    pending_[pending_count_++] = r;
  }
}

void schedule::receive(void* into, std::size_t bytes, int source) {
  SINEW_EXPECT(pending_count_ < most_pending);
  pending_[pending_count_++] =
      engine_.irecv(*comm_, *comm_->collectives, p2p::buffer::of_bytes(into, bytes), source, tag_);
}

int schedule::advance(bool& over) noexcept {
  over = false;
  for (int steps = 0;; ++steps) {
    for (int i = 0; i < pending_count_; ++i) {
      if (!pending_[i]->done()) {
        return steps;
      }
    }
    for (int i = 0; i < pending_count_; ++i) {
      engine_.release(pending_[i]);
    }
    pending_count_ = 0;
    next then = next::over;
    if (!broken_) {
      try {
        then = go_on();
      } catch (...) {
        failed();
        // What was started still refers to this object. A receive may never get its message.
        broken_ = true;
        for (int i = 0; i < pending_count_; ++i) {
          (void)engine_.cancel(*pending_[i]);
        }
        then = next::wait;
      }
    }
    if (then == next::later) {
      return steps;
    }
    over = then == next::over;
    if (over) {
      return steps + 1;
    }
  }
}

schedules::schedules(core::runtime& runtime) : runtime_(runtime) {
  chore_ =
      runtime.add_chore([](void* self) { return static_cast<schedules*>(self)->advance(); }, this);
}

void schedules::start(std::shared_ptr<schedule> s) {
  {
    const core::guard held(lock, runtime_.threaded());
    running_.push_back(std::move(s));
    // Before its first receive is posted: who completes that one must look here afterwards.
    runtime_.want_chore(chore_, true);
  }
  advance();
}

// It waits for the lock instead of giving way: the holder may have looked at a request just before
// this thread completed it. Whoever holds the lock never waits for progress.
int schedules::advance() noexcept {
  const core::guard held(lock, runtime_.threaded());
  int steps = 0;
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < running_.size();) {
      bool over = false;
      steps += running_[i]->advance(over);
      if (!over) {
        ++i;
        continue;
      }
      again = true;  // it may have been in the way of others
      if (auto then = running_[i]->successor()) {
        running_[i] = std::move(then);
      } else {
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
  if (running_.empty()) {
    runtime_.want_chore(chore_, false);
  }
  return steps;
}

}  // namespace sinew::coll
