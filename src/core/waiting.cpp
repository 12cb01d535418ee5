// Waiting in a job with threads: who polls, who is parked, who wakes whom.
//
// A thread that waits is awake or parked. Awake, it leads (polls) or, if another one leads, watches
// its own operation. It parks after a while, unless it is the last one awake: that one stays
// leader and sleeps on the doorbell. So a message finds either somebody awake, or nobody waits.
// But for this: the last one awake may leave, its own operation done, while others are parked.
// Most likely it comes right back, and waking one of them at each message is what makes threads
// slow. So one of the parked, the monitor, looks every 500 us whether anybody has waited since, and
// leads if not. Whoever parks while there is no monitor becomes it; if the monitor was woken
// by its own operation, and nobody has parked since, the last to leave wakes another one
// (unwatched_). After the leader has slept on the doorbell the last to leave always does: then
// messages are rare.
//
// Turns. A switch between threads costs 2 to 3 us, an answer from a thread that runs on another
// processor 0.2 to 1. So where threads share a processor, what counts is that a thread and its
// partner in the other process run at the same time, and stay together for a while. If the leader
// finds a message for a parked thread and all processors are taken, it does not wake it but puts
// it off (ready_). It hands its processor over, to one thread at a time, when its own message does
// not come, to the thread whose message came last: the sender of that is most likely waiting for
// the answer at this moment. When its turn ends, it does so at once, to the thread that was put off
// first. If both sides of two pairs hand over at the same time they miss each other again; hence
// patience is long or short at random. If nobody waits any more the monitor or the last to leave
// wake those that were put off.
#include <sched.h>

#include <utility>

#include "core/idler.hpp"
#include "core/lead.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/spin.hpp"

namespace sinew::core {
namespace {

constexpr std::uint64_t monitor_period_ns = 500'000;
/// Waits before a turn ends, and up to as many more at random: a fraction of a millisecond if each
/// is answered at once. Shorter turns are fairer and slower.
constexpr std::uint32_t least_turn = 1024;
/// Looks before a leader hands over to a thread that was put off: while nothing new has come for
/// anybody; after something has, long or short at random. What a wait's first look finds does not
/// count: most often it is the answer to the thread whose turn has just ended.
constexpr std::uint32_t patience_in_silence = 1536;
constexpr std::uint32_t long_patience = 512;
constexpr std::uint32_t short_patience = 16;

/// Its address tells threads apart.
thread_local constinit char this_thread [[gnu::tls_model("initial-exec")]] = 0;

/// Spreads the bits of a count: the golden ratio's fraction.
constexpr std::uint32_t scramble(std::uint32_t count) noexcept { return count * 0x9E3779B1u; }

}  // namespace

/// A thread that sleeps until its operation is done, or until it is told to lead.
struct runtime::parked : waiter {
  static constexpr std::uint32_t fired = 1;  ///< its operation is done
  static constexpr std::uint32_t turn = 2;   ///< nobody is awake: lead
  /// Bits above. Setting one is a release, the sleeper's look an acquire. After `fired` is set
  /// without parked_lock_ the object may be gone: the wake-up that follows uses its address only.
  std::atomic<std::uint32_t> word{0};
  runtime* home = nullptr;
  line* in = nullptr;  ///< this and its place there are guarded by parked_lock_
  parked* newer = nullptr;
  parked* older = nullptr;

  void wake_up(std::uint32_t why) noexcept {
    word.fetch_or(why, std::memory_order_release);
    base::futex_wake(word, 1);
  }
};

void runtime::line::join(parked& p) noexcept {
  p.in = this;
  p.newer = nullptr;
  p.older = latest;
  (latest != nullptr ? latest->newer : oldest) = &p;
  latest = &p;
}

void runtime::line::leave(parked& p) noexcept {
  p.in = nullptr;
  (p.newer != nullptr ? p.newer->older : latest) = p.older;
  (p.older != nullptr ? p.older->newer : oldest) = p.newer;
}

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

void runtime::follow() noexcept {
  leader_.store(nullptr, std::memory_order_relaxed);
  leading_.store(false, std::memory_order_release);
}

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
  try {
    wait(self.seen);
  } catch (...) {
    unlist(self);
    throw;
  }
}

// A watcher whose wait has failed: nobody may find it any more.
void runtime::unlist(const watcher& gone) noexcept {
  guard held(watch_lock_, threaded());
  watcher* kept = nullptr;
  for (watcher* w = watchers_.load(std::memory_order_relaxed); w != nullptr;) {
    watcher* const next = w->next;
    if (w != &gone) {
      w->next = kept;
      kept = w;
    }
    w = next;
  }
  watchers_.store(kept, std::memory_order_relaxed);
}

bool runtime::crowd() const noexcept {
  return awake_.load(std::memory_order_relaxed) > processors_;
}

std::uint32_t runtime::patience(std::uint32_t wait, std::uint32_t put_off) const noexcept {
  if (put_offs_.load(std::memory_order_relaxed) == put_off && !crowded_) {
    return patience_in_silence;
  }
  return scramble(wait) >> 31 != 0 && !crowded_ ? long_patience : short_patience;
}

void runtime::wait_among_threads(completion& c) {
  presence here(*this);
  const std::uint32_t wait = waits_.load(std::memory_order_relaxed) + 1;
  waits_.store(wait, std::memory_order_relaxed);
  std::uint32_t put_off = 0;
  bool first = true;
  bool turn_over =
      static_cast<std::int32_t>(wait - turn_ends_.load(std::memory_order_relaxed)) >= 0;
  idler idle(*this);
  lead leads;
  while (!c.done()) {
    using next = idler::next;
    next then = next::rest;
    const bool others_ready = ready_count_.load(std::memory_order_relaxed) != 0;
    if (!others_ready || !turn_over) {
      if (!leads && leads.take(*this)) {
        leader_.store(&this_thread, std::memory_order_relaxed);
      }
      const bool happened = leads && lead_round() != 0;
      if (happened) {
        idle.busy();
      }
      put_off = first ? put_offs_.load(std::memory_order_relaxed) : put_off;
      first = false;
      then = crowd()        ? idle.among_others(bool{leads} || processors_ > 1 ? looks_in_crowd : 0)
             : others_ready ? idle.among_others(patience(wait, put_off))
             : happened     ? next::look
                            : idle.quiet();
    }
    turn_over = false;
    if (then == next::look) {
      if (!leads) {
        cpu_relax();  // Wait: the idler of whoever leads watches.
      }
      continue;
    }
    if (leads && watchers_.load(std::memory_order_relaxed) != nullptr) {
      look_for_watchers();
    }
    if (leads && then == next::rest && awake_.load(std::memory_order_relaxed) == 1 &&
        !others_ready) {
      resting_.store(true, std::memory_order_relaxed);
      idle.sleep();
      resting_.store(false, std::memory_order_relaxed);
      here.slept = true;
      continue;
    }
    if (leads) {
      leads.give_back();
    } else if (resting_.load(std::memory_order_relaxed)) {
      endpoint_->wake();  // it finds that it is no longer alone, and parks
    }
    if (then == next::yield) {
      sched_yield();  // Wait: the idler of whoever leads watches.
    } else {
      park(c);
    }
  }
  // `leads` goes before `here`: whoever is appointed finds the lead free.
}

// Wakes one of the parked, since nobody is awake. Rather the latest: its message is the farthest.
void runtime::elect() noexcept {
  guard held(parked_lock_, true);
  if (ready_.oldest != nullptr) {
    next_ready()->wake_up(parked::fired);
  } else if (parked_.latest != nullptr) {
    unwatched_.store(false, std::memory_order_relaxed);
    parked_.latest->wake_up(parked::turn);  // under the lock: it cannot leave park() before
  }
}

// Fired by whoever ends the operation of a parked thread.
void runtime::operation_done(waiter& w) noexcept {
  auto& p = static_cast<parked&>(w);
  runtime& home = *p.home;
  // A thread that does not wait itself may stay away for long; it puts off nobody.
  if (home.leader_.load(std::memory_order_relaxed) == &this_thread &&
      home.awake_.load(std::memory_order_relaxed) >= home.processors_ && home.put_off(p)) {
    return;
  }
  home.awake_.fetch_add(1, std::memory_order_acq_rel);
  p.wake_up(parked::fired);
}

// Keeps it asleep though its operation is done; the caller leads, and will hand over.
bool runtime::put_off(parked& p) noexcept {
  guard held(parked_lock_, true);
  if (p.word.load(std::memory_order_relaxed) != 0) {
    return false;  // it is on its way already
  }
  p.in->leave(p);
  ready_.join(p);
  ready_count_.fetch_add(1, std::memory_order_relaxed);
  put_offs_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// Takes one of those that were put off, counts it as awake; the caller, who holds the lock, wakes
// it now or soon.
runtime::parked* runtime::next_ready() noexcept {
  const std::uint32_t now = waits_.load(std::memory_order_relaxed);
  parked* next = ready_.latest;
  if (static_cast<std::int32_t>(now - turn_ends_.load(std::memory_order_relaxed)) >= 0) {
    next = ready_.oldest;
    turn_ends_.store(now + least_turn + scramble(now) % least_turn, std::memory_order_relaxed);
  }
  ready_.leave(*next);
  ready_count_.fetch_sub(1, std::memory_order_relaxed);
  awake_.fetch_add(1, std::memory_order_acq_rel);
  return next;
}

// Sleeps until `c` is done or somebody has to lead, and lets one of those go on that were put off.
// Not at all if there is none and the caller is the last awake.
void runtime::park(completion& c) {
  parked self;
  self.home = this;
  self.fire = operation_done;
  parked* instead = nullptr;
  if (!enlist(self, instead)) {
    return;
  }
  const bool attached = c.attach(self);
  if (instead != nullptr) {
    instead->wake_up(parked::fired);
  }
  if (attached) {
    sleep_as(self);
  }
  if (attached && !c.detach(self)) {
    // Or being fired right now: `self` must outlive the firing.
    while ((self.word.load(std::memory_order_acquire) & parked::fired) == 0 && !reclaim(self)) {
      // Wait: for somebody who is firing this waiter right now.
      sched_yield();
    }
  } else {
    awake_.fetch_add(1, std::memory_order_acq_rel);
  }
  delist(self);
}

void runtime::sleep_as(parked& self) {
  while (self.word.load(std::memory_order_acquire) == 0) {
    if (monitor_.load(std::memory_order_relaxed) != &self) {
      // Wait: the idler of the last one awake watches for all.
      base::futex_wait(self.word, 0);
      continue;
    }
    const bool quiet = resting_.load(std::memory_order_relaxed);
    const std::uint32_t waits = waits_.load(std::memory_order_relaxed);
    // Wait: the monitor takes the lead if nobody has it.
    base::futex_wait(self.word, 0, quiet ? longest_sleep_ns : monitor_period_ns);
    if (awake_.load(std::memory_order_acquire) == 0 &&
        waits_.load(std::memory_order_relaxed) == waits) {
      return;
    }
  }
}

bool runtime::enlist(parked& self, parked*& instead) noexcept {
  guard held(parked_lock_, true);
  const int awake = awake_.load(std::memory_order_relaxed);
  if (ready_.latest != nullptr && awake <= processors_) {
    instead = next_ready();
  } else if (awake == 1) {
    return false;
  }
  awake_.fetch_sub(1, std::memory_order_acq_rel);
  parked_.join(self);
  parked* const monitor = monitor_.load(std::memory_order_relaxed);
  if (monitor == nullptr || monitor == instead) {
    monitor_.store(&self, std::memory_order_relaxed);
    unwatched_.store(false, std::memory_order_relaxed);
  }
  return true;
}

// Takes itself from those that were put off.
bool runtime::reclaim(parked& self) noexcept {
  guard held(parked_lock_, true);
  if (self.in != &ready_) {
    return false;
  }
  ready_.leave(self);
  ready_count_.fetch_sub(1, std::memory_order_relaxed);
  awake_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

void runtime::delist(parked& self) noexcept {
  guard held(parked_lock_, true);
  if (self.in != nullptr) {
    self.in->leave(self);
  }
  if (monitor_.load(std::memory_order_relaxed) == &self) {
    monitor_.store(nullptr, std::memory_order_relaxed);
  }
  unwatched_.store((parked_.latest != nullptr || ready_.latest != nullptr) &&
                       monitor_.load(std::memory_order_relaxed) == nullptr,
                   std::memory_order_relaxed);
}

}  // namespace sinew::core
