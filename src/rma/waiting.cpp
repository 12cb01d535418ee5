// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a word of mapped memory that another rank changes.
//
// A change of memory wakes no waiter by itself. So a waiter looks for a while, and then lists
// itself, arms a word of its rank (`armed`) and waits for a completion; progress goes on meanwhile
// and may sleep. A thread that changes a word with an atomic (the changer) looks at that rank's
// `armed` afterwards. If it is 1 the changer makes it 0 and sends a message, whose handler arms
// anew, looks at all listed words and completes those waiters whose condition holds. So a rank gets
// one message for each time it arms, however many others change its words.
//
// No wake-up is lost. All accesses named here are sequentially consistent, so there is one order of
// them. The changer's change comes before its look at `armed`; the waiter's arming (its own, or the
// handler's) before its look at the word. Suppose the waiter's look misses the change: it comes
// before it. Then the arming came before the changer's look, which so finds 1, or a 0 that another
// changer made after that arming. In the second case the other changer's message is on its way and
// its handler looks after arming again, which is later than this changer's look and so than its
// change. In the first case this changer sends the message itself.
//
// Who listens is armed as if it were listed, and looks at its words in rounds of progress: the
// message makes for one after the handler has armed anew.
//
// announce() spares the changer the fence between its change and its look: the waiter pays for it
// with a membarrier after arming, which has the effect of a full barrier in every running thread
// of the ranks. If the changer's store came before that barrier, the waiter's look sees it; if
// after, so did its look at `armed`, which then finds 1. Ranks say by a bit of `armed` that they
// pay; with more ranks than processors, where sleeping is frequent, they do not.
#include <sched.h>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/membarrier.hpp"
#include "sinew/base/trace.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/core/retry.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::rma {
namespace {

/// Looks at the word for each round of progress: together about as long as a round.
constexpr int looks_per_round = 24;
/// Before the first round, with a processor for each rank: most answers come within a microsecond,
/// and a round of progress takes a good part of that.
constexpr int looks_at_first = 300;
/// How long to look before listing oneself, which takes a membarrier, and then a message of whoever
/// changes the word: 20 us together, as much as copying half a megabyte. The runtime's own spinning
/// comes on top. Threads of one rank may share a processor; then the runtime knows better.
constexpr std::uint64_t longest_spin_ns = 1'000'000;
constexpr std::uint64_t longest_threads_spin_ns = 30'000;
constexpr std::uint64_t longest_crowded_spin_ns = 100'000;
/// From here on who looks gives its processor to whoever wants it, between two looks.
constexpr std::uint64_t yield_after_ns = 30'000;

}  // namespace

/// In the list of its engine while `listed`, which the list's lock guards.
struct engine::waiting {
  bool (*ready)(void*);
  void* context;
  completion seen{};
  waiting* next = nullptr;
  waiting* previous = nullptr;
  bool listed = false;
};

bool engine::disarm(job_rank r) noexcept {
  return (armed(r).fetch_and(~is_armed, std::memory_order_seq_cst) & is_armed) != 0;
}

bool engine::send_alert(job_rank r) {
  if (r == rank_) {
    look_for_waiters();
    return true;
  }
  return runtime_.endpoint().send_short(r, core::handlers::rma, {}, nullptr, 0).done();
}

void engine::wake(job_rank r) {
  if (!disarm(r)) {
    return;  // somebody else has seen it first
  }
  // The owner waits, so it makes progress, and slots become free.
  core::retry_loop tries(runtime_);
  while (!send_alert(r)) {
    tries.again();
  }
}

void engine::listen() {
  {
    const base::guard held(waiting_lock_, runtime_.threaded());
    ++listeners_;
    armed(rank_).fetch_or(is_armed, std::memory_order_seq_cst);
  }
  if (pays_fence_) {
    base::membarrier(base::within::machine);
  }
}

void engine::stop_listening() noexcept {
  const base::guard held(waiting_lock_, runtime_.threaded());
  SINEW_EXPECT(listeners_ > 0);
  --listeners_;
  disarm_if_nobody_waits();
}

/// Under the lock.
void engine::disarm_if_nobody_waits() noexcept {
  if (waiting_ == nullptr && listeners_ == 0) {
    armed(rank_).fetch_and(~is_armed, std::memory_order_relaxed);  // wrongly 1 costs a message
  }
}

void engine::look_for_waiters() {
  const base::guard held(waiting_lock_, runtime_.threaded());
  if (waiting_ == nullptr && listeners_ == 0) {
    return;
  }
  armed(rank_).fetch_or(is_armed, std::memory_order_seq_cst);
  if (pays_fence_) {
    base::membarrier(base::within::machine);
  }
  for (waiting* w = waiting_; w != nullptr;) {
    waiting* const next = w->next;
    if (w->ready(w->context)) {
      delist(*w);
      w->seen.complete();  // `w` may be gone
    }
    w = next;
  }
}

/// Under the lock.
void engine::delist(waiting& w) noexcept {
  SINEW_EXPECT(w.listed && (w.previous != nullptr || waiting_ == &w));
  (w.previous != nullptr ? w.previous->next : waiting_) = w.next;
  if (w.next != nullptr) {
    w.next->previous = w.previous;
  }
  w.listed = false;
  disarm_if_nobody_waits();
}

std::uint64_t engine::wait_longer(std::atomic_ref<std::uint64_t> word, until how,
                                  std::uint64_t value) {
  struct condition {
    std::atomic_ref<std::uint64_t> word;
    until how;
    std::uint64_t value;
    /// A value for which the condition holds. The waiter and the poller may both look, and store
    /// what they found; either will do, so relaxed.
    std::atomic<std::uint64_t> seen{0};
  } wanted{word, how, value};
  wait_longer(
      [](void* c) {
        auto& w = *static_cast<condition*>(c);
        const std::uint64_t found = w.word.load(std::memory_order_seq_cst);
        if (!holds(found, w.how, w.value)) {
          return false;
        }
        w.seen.store(found, std::memory_order_relaxed);
        return true;
      },
      &wanted);
  SINEW_ENSURE(holds(wanted.seen.load(std::memory_order_relaxed), how, value));
  return wanted.seen.load(std::memory_order_relaxed);
}

void engine::wait_longer(bool (*ready)(void*), void* context) {
  while (!spin(ready, context)) {
    waiting self{ready, context};
    {
      const base::guard held(waiting_lock_, runtime_.threaded());
      self.next = waiting_;
      if (waiting_ != nullptr) {
        waiting_->previous = &self;
      }
      waiting_ = &self;
      self.listed = true;
      armed(rank_).fetch_or(is_armed, std::memory_order_seq_cst);
    }
    if (pays_fence_) {
      base::membarrier(base::within::machine);
    }
    if (!ready(context)) {
      runtime_.wait(self.seen);
    } else {
      const base::guard held(waiting_lock_, runtime_.threaded());
      if (self.listed) {
        delist(self);
      }
    }
  }
}

bool engine::spin(bool (*ready)(void*), void* context) {
  const trace::wait here;
  const bool crowded = runtime_.crowded();
  const std::uint64_t longest = crowded               ? longest_crowded_spin_ns
                                : runtime_.threaded() ? longest_threads_spin_ns
                                                      : longest_spin_ns;
  std::uint64_t begin = 0;
  bool yields = crowded;
  for (int look = 0; look < looks_at_first && !crowded; ++look) {
    if (ready(context)) {
      return true;
    }
  }
  for (unsigned round = 0;; ++round) {
    for (int look = 0; look < looks_per_round; ++look) {
      if (ready(context)) {
        return true;
      }
    }
    runtime_.poll_before_wait();  // a fiber lets others run
    if (fiber::self() != nullptr) {
      return false;  // its worker has better things to do than to look at one word
    }
    if (yields) {
      sched_yield();  // Wait: for a millisecond at most; the runtime's wait comes after.
    }
    if (round % 16 == 0) {
      const auto now = static_cast<std::uint64_t>(now_ns());
      begin = round == 0 ? now : begin;
      yields = crowded || now - begin > yield_after_ns;
      if (now - begin > longest) {
        return false;
      }
    }
  }
}

}  // namespace sinew::rma
