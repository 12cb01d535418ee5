// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fiber/sleeper.hpp"

#include <sched.h>

#include "fiber/cancellation.hpp"
#include "fiber/worker.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/spin.hpp"

namespace sinew::fiber {
namespace {

std::uint64_t now() noexcept { return static_cast<std::uint64_t>(now_ns()); }

}  // namespace

void spin_lock::lock_slowly() noexcept {
  for (int i = 0;; ++i) {
    if (held_.load(std::memory_order_relaxed) == 0 &&
        held_.exchange(1, std::memory_order_acquire) == 0) {
      return;
    }
    if (i < 100) {
      // Wait: for a holder inside a few instructions.
      cpu_relax();
    } else {
      // Wait: the same.
      ::sched_yield();  // the holder may have lost its processor
    }
  }
}

bool sleeper::wait(std::uint64_t deadline_ns, const std::atomic<std::uint32_t>* call_off) noexcept {
  if (fiber_ == nullptr) {
    for (int i = 0; i < 100 && !woken(); ++i) {
      // Wait: bounded.
      cpu_relax();
    }
    while (!woken()) {
      std::uint64_t limit = base::no_limit;
      if (deadline_ns != no_deadline) {
        const std::uint64_t t = now();
        if (t >= deadline_ns) {
          return false;
        }
        limit = deadline_ns - t;
      }
      // Wait: a thread's, for fibers; the poller of core reports those.
      base::futex_wait(woken_, 0, limit);
    }
    return true;
  }
  SINEW_EXPECT(fiber_ == self());
  worker& w = *here;
  fiber_->doing.store(why_, std::memory_order_relaxed);
  const auto waits = [&] {
    return !woken() && (call_off == nullptr || call_off->load(std::memory_order_seq_cst) == 0);
  };
  if (deadline_ns == no_deadline) {
    while (waits()) {
      w.leave(*fiber_);
    }
  } else {
    timers::node alarm{.deadline_ns = deadline_ns, .who = fiber_};
    w.sleepers.add(alarm);
    while (waits() && now() < deadline_ns) {
      w.leave(*fiber_);
    }
    w.sleepers.remove(alarm);
  }
  fiber_->doing.store(nullptr, std::memory_order_relaxed);
  return woken();
}

void sleeper::wake() noexcept {
  SINEW_EXPECT(!woken() && !listed_);
  fiber* const f = fiber_;
  woken_.store(1, std::memory_order_release);
  if (f != nullptr) {
    resume(*f);
  } else {
    base::futex_wake(woken_, 1);
  }
}

void sleeper_list::push(sleeper& s) noexcept {
  SINEW_EXPECT(!s.listed_ && !s.woken());
  s.next_ = nullptr;
  s.previous_ = last_;
  s.listed_ = true;
  if (last_ == nullptr) {
    first_.store(&s, std::memory_order_relaxed);
  } else {
    last_->next_ = &s;
  }
  last_ = &s;
}

sleeper* sleeper_list::pop() noexcept {
  sleeper* s = first_.load(std::memory_order_relaxed);
  if (s != nullptr) {
    remove(*s);
  }
  return s;
}

bool sleeper_list::remove(sleeper& s) noexcept {
  if (!s.listed_) {
    return false;
  }
  s.listed_ = false;
  SINEW_ASSERT(
      (s.previous_ == nullptr ? first_.load(std::memory_order_relaxed) : s.previous_->next_) == &s);
  SINEW_ASSERT((s.next_ == nullptr ? last_ : s.next_->previous_) == &s);
  if (s.previous_ == nullptr) {
    first_.store(s.next_, std::memory_order_relaxed);
  } else {
    s.previous_->next_ = s.next_;
  }
  if (s.next_ == nullptr) {
    last_ = s.previous_;
  } else {
    s.next_->previous_ = s.previous_;
  }
  return true;
}

bool sleeper_list::wait(sleeper& s, std::uint64_t deadline_ns,
                        const std::atomic<std::uint32_t>* call_off) noexcept {
  if (s.wait(deadline_ns, call_off)) {
    return true;
  }
  lock();
  const bool taken = remove(s);
  unlock();
  // If it was no longer listed, somebody is just waking it.
  return !taken && s.wait();
}

waited sleeper_list::wait_unlock(sleeper& s, std::uint64_t deadline_ns) noexcept {
  push(s);
  unlock();
  const auto* const calls_off = calls_off_self();
  return wait(s, deadline_ns, calls_off) ? waited::done : ended_early(calls_off);
}

sleeper* sleeper_list::take(std::uint32_t most, std::uint32_t& count) noexcept {
  sleeper* const first = first_.load(std::memory_order_relaxed);
  sleeper* last = nullptr;
  count = 0;
  for (sleeper* each = first; each != nullptr && count < most; each = each->next_) {
    SINEW_ASSERT(each->listed_ && each->previous_ == last);
    each->listed_ = false;
    last = each;
    ++count;
  }
  if (last == nullptr) {
    return nullptr;
  }
  first_.store(last->next_, std::memory_order_relaxed);
  (last->next_ == nullptr ? last_ : last->next_->previous_) = nullptr;
  last->next_ = nullptr;
  return first;
}

void sleeper_list::wake_taken(sleeper* first) noexcept {
  while (first != nullptr) {
    sleeper* const next = first->next_;
    first->wake();
    first = next;
  }
}

void sleeper_list::wake_all_unlock() noexcept {
  std::uint32_t count = 0;
  sleeper* const all = take(UINT32_MAX, count);
  unlock();
  wake_taken(all);
}

}  // namespace sinew::fiber
