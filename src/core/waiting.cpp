// Waiting in a job with threads: who polls, who is parked, who wakes whom.
//
// A thread that waits is awake or parked. Awake, it leads (polls) or, if another one leads, watches
// its own operation. It parks after a while, unless it is the last one awake: that one stays
// leader and sleeps on the doorbell. So a message finds either somebody awake, or nobody waits.
// But for this: the last one awake may leave, its own operation done, while others are parked.
// Most likely it comes right back, and waking one of them at each message is what makes threads
// slow. So one of the parked, the sentry, looks every 500 us whether anybody is awake, and becomes
// leader if not. Whoever parks while there is no sentry becomes it; if the sentry was woken by its
// own operation, and nobody has parked since, the last to leave wakes another one (unwatched_).
// After the leader has slept on the doorbell the last to leave always does: then messages are rare.
#include <sched.h>

#include "core/idler.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/spin.hpp"

namespace sinew::core {
namespace {

constexpr std::uint64_t sentry_period_ns = 500'000;
/// Waits of one thread in a row while others of ours want its processor; then it yields once. About
/// a millisecond if each is answered at once, less than the kernel's own slice. Shorter turns are
/// fairer and slower: at 256 waits 14 threads a side took twice as long a message.
constexpr std::uint32_t longest_turn = 4096;

/// Its address tells threads apart.
thread_local char this_thread;

}  // namespace

/// A thread that sleeps until its operation is done, or until it is told to lead.
struct runtime::parked : waiter {
  static constexpr std::uint32_t fired = 1;  ///< its operation is done
  static constexpr std::uint32_t turn = 2;   ///< nobody is awake: lead
  /// Bits above. Setting one is a release, the sleeper's look an acquire. After `fired` is set the
  /// object may be gone: the wake-up that follows uses its address only.
  std::atomic<std::uint32_t> word{0};
  runtime* home = nullptr;
  parked* next = nullptr;
  parked* previous = nullptr;

  void rouse(std::uint32_t why) noexcept {
    word.fetch_or(why, std::memory_order_release);
    base::futex_wake(word, 1);
  }
};

struct runtime::watcher {
  bool (*ready)(void*);
  void* context;
  completion seen{};
  watcher* next = nullptr;
};

bool runtime::try_lead() noexcept {
  return !leading_.load(std::memory_order_relaxed) &&
         !leading_.exchange(true, std::memory_order_acquire);
}

void runtime::follow() noexcept { leading_.store(false, std::memory_order_release); }

int runtime::lead_round() {
  const int happened = round();
  if (happened != 0 && watchers_.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    look_for_watchers();
  }
  return happened;
}

void runtime::look_for_watchers() {
  guard held(watch_lock_, threaded());
  watcher* kept = nullptr;
  for (watcher* w = watchers_.load(std::memory_order_relaxed); w != nullptr;) {
    watcher* const next = w->next;
    if (w->ready(w->context)) {
      w->seen.complete();  // `w` may be gone
    } else {
      w->next = kept;
      kept = w;
    }
    w = next;
  }
  watchers_.store(kept, std::memory_order_relaxed);
}

void runtime::wait_as_watcher(bool (*ready)(void*), void* context) {
  watcher self{ready, context};
  {
    guard held(watch_lock_, threaded());
    if (ready(context)) {
      return;
    }
    self.next = watchers_.load(std::memory_order_relaxed);
    watchers_.store(&self, std::memory_order_relaxed);
  }
  wait(self.seen);
}

bool runtime::crowd() const noexcept {
  return awake_.load(std::memory_order_relaxed) > processors_;
}

// A thread whose answers come at once would keep its processor for a whole slice of the kernel's,
// milliseconds, while others have messages too.
void runtime::take_turns() noexcept {
  if (last_waiter_.load(std::memory_order_relaxed) != &this_thread) {
    last_waiter_.store(&this_thread, std::memory_order_relaxed);
    in_a_row_.store(0, std::memory_order_relaxed);
    return;
  }
  const std::uint32_t row = in_a_row_.load(std::memory_order_relaxed) + 1;
  in_a_row_.store(row % longest_turn, std::memory_order_relaxed);
  if (row == longest_turn) {
    sched_yield();
  }
}

void runtime::wait_among_threads(completion& c) {
  awake_.fetch_add(1, std::memory_order_acq_rel);
  if (crowd()) {
    take_turns();
  }
  idler idle(*this);
  bool leads = false;
  bool slept = false;
  while (!c.done()) {
    leads = leads || try_lead();
    const bool happened = leads && lead_round() != 0;
    if (happened) {
      idle.busy();
    }
    const auto next = crowd() ? idle.among_others() : happened ? idler::next::look : idle.quiet();
    if (next == idler::next::look) {
      if (!leads) {
        cpu_relax();
      }
      continue;
    }
    if (leads && watchers_.load(std::memory_order_relaxed) != nullptr) {
      look_for_watchers();
    }
    if (leads && next == idler::next::rest && awake_.load(std::memory_order_relaxed) == 1) {
      resting_.store(true, std::memory_order_relaxed);
      idle.sleep();
      resting_.store(false, std::memory_order_relaxed);
      slept = true;
      continue;
    }
    if (leads) {
      follow();
      leads = false;
    } else if (resting_.load(std::memory_order_relaxed)) {
      endpoint_->wake();  // it finds that it is no longer alone, and parks
    }
    if (next == idler::next::yield) {
      sched_yield();
    } else {
      park(c);
    }
  }
  if (leads) {
    follow();
  }
  if (awake_.fetch_sub(1, std::memory_order_acq_rel) == 1 &&
      (slept || unwatched_.load(std::memory_order_relaxed))) [[unlikely]] {
    appoint();
  }
}

// Wakes one of the parked, since nobody is awake. Rather the latest: its message is the farthest.
void runtime::appoint() {
  guard held(parked_lock_, true);
  if (parked_ != nullptr) {
    unwatched_.store(false, std::memory_order_relaxed);
    parked_->rouse(parked::turn);  // under the lock: it cannot leave park() before it takes it
  }
}

// Sleeps until `c` is done or somebody has to lead; not at all if the caller is the last awake.
void runtime::park(completion& c) {
  parked self;
  self.home = this;
  self.fire = [](waiter& w) noexcept {
    auto& p = static_cast<parked&>(w);
    p.home->awake_.fetch_add(1, std::memory_order_acq_rel);
    p.rouse(parked::fired);
  };
  if (!enlist(self)) {
    return;
  }
  bool fired = false;
  if (c.attach(self)) {
    sleep_as(self);
    fired = !c.detach(self);
  }
  if (fired) {
    // Or being fired right now: `self` must outlive the firing.
    while ((self.word.load(std::memory_order_acquire) & parked::fired) == 0) {
      sched_yield();
    }
  } else {
    awake_.fetch_add(1, std::memory_order_acq_rel);
  }
  delist(self);
}

void runtime::sleep_as(parked& self) {
  while (self.word.load(std::memory_order_acquire) == 0) {
    if (sentry_.load(std::memory_order_relaxed) != &self) {
      base::futex_wait(self.word, 0);
      continue;
    }
    const bool quiet = resting_.load(std::memory_order_relaxed);
    base::futex_wait(self.word, 0, quiet ? longest_sleep_ns : sentry_period_ns);
    if (awake_.load(std::memory_order_acquire) == 0) {
      return;
    }
  }
}

bool runtime::enlist(parked& self) noexcept {
  guard held(parked_lock_, true);
  if (awake_.load(std::memory_order_relaxed) == 1) {
    return false;
  }
  awake_.fetch_sub(1, std::memory_order_acq_rel);
  self.next = parked_;
  if (parked_ != nullptr) {
    parked_->previous = &self;
  }
  parked_ = &self;
  if (sentry_.load(std::memory_order_relaxed) == nullptr) {
    sentry_.store(&self, std::memory_order_relaxed);
    unwatched_.store(false, std::memory_order_relaxed);
  }
  return true;
}

void runtime::delist(parked& self) noexcept {
  guard held(parked_lock_, true);
  (self.previous != nullptr ? self.previous->next : parked_) = self.next;
  if (self.next != nullptr) {
    self.next->previous = self.previous;
  }
  if (sentry_.load(std::memory_order_relaxed) == &self) {
    sentry_.store(nullptr, std::memory_order_relaxed);
  }
  unwatched_.store(parked_ != nullptr && sentry_.load(std::memory_order_relaxed) == nullptr,
                   std::memory_order_relaxed);
}

}  // namespace sinew::core
