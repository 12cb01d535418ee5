// SPDX-License-Identifier: BSD-3-Clause
#include "core/fibers.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "core/idler.hpp"
#include "core/runtime_impl.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/log.hpp"

namespace sinew::core {
namespace {

constexpr std::uint64_t nap_ns = 500'000;  ///< while a thread leads, or other runtimes want polling
constexpr std::uint64_t short_nap_ns = 50'000;
constexpr int rounds_per_poll = 8;
constexpr int most_listed = 32;

/// The fibers of the process in words, for a report.
struct listing {
  std::string text;
  int stuck = 0;
  int others = 0;

  static void visit(void* context, const fiber::fiber& f, const char* state) {
    auto& self = *static_cast<listing*>(context);
    const std::string_view doing = state;
    if (doing == "ready" || doing == "running" || doing == "sleep") {
      ++self.others;
    } else if (++self.stuck <= most_listed) {
      const std::string_view called = fiber::name(f);
      self.text += "\n  fiber \"" + std::string(called) + "\": " + std::string(doing);
    }
  }
};

}  // namespace

runtime::impl::fiber_poller& runtime::impl::fiber_poller::of_process() {
  static auto& it = *new fiber_poller;  // for ever: a scheduler may call wake() late
  return it;
}

void runtime::impl::fiber_poller::add(impl& rt) {
  fiber_poller& self = of_process();
  fiber::scheduler::set_process_poller(nullptr);
  self.all_.push_back(&rt);
  fiber::scheduler::set_process_poller(&self);
}

void runtime::impl::fiber_poller::remove(impl& rt) {
  fiber_poller& self = of_process();
  fiber::scheduler::set_process_poller(nullptr);
  std::erase(self.all_, &rt);
  if (!self.all_.empty()) {
    fiber::scheduler::set_process_poller(&self);
  }
}

// Several rounds if nothing arrives: a round is cheaper than the worker's way here and back.
int runtime::impl::fiber_poller::poll() noexcept {
  int happened = 0;
  const int most = at_once_ ? 1 : rounds_per_poll;
  for (int i = 0; i < most && happened == 0; ++i) {
    for (impl* rt : all_) {
      happened += rt->round_for_fibers();
    }
  }
  happened_ += static_cast<std::uint64_t>(happened);
  return happened;
}

// With one worker and one runtime: of several nobody sleeps on a doorbell.
bool runtime::impl::fiber_poller::sleeps_at_once() noexcept {
  at_once_ = all_.size() == 1 && all_.front()->endpoint_->bounds().sleeps_at_once &&
             fiber::scheduler::of_process() != nullptr &&
             fiber::scheduler::of_process()->workers() == 1;
  return at_once_;
}

void runtime::impl::fiber_poller::sleep(std::uint64_t timeout_ns) noexcept {
  if (woken_.exchange(0, std::memory_order_acq_rel) != 0) {
    return;
  }
  if (all_.size() != 1) {
    nap(std::min(timeout_ns, short_nap_ns));
  } else {
    sleep_in(*all_.front(), timeout_ns);
  }
  woken_.store(0, std::memory_order_relaxed);
  watch_for_hang();
}

void runtime::impl::fiber_poller::nap(std::uint64_t timeout_ns) noexcept {
  // Wait: watch_for_hang() comes after it.
  base::futex_wait(woken_, 0, timeout_ns);
}

// A thread that leads meanwhile may leave without a word, hence the short nap then. A wake() that
// comes while that thread sleeps on the doorbell is not lost: woken_ stays.
void runtime::impl::fiber_poller::sleep_in(impl& rt, std::uint64_t timeout_ns) noexcept {
  if (!rt.serves_fibers()) {
    nap(timeout_ns);
    return;
  }
  lead mine;
  if (rt.threaded() && !rt.takes_lead(mine)) {
    nap(std::min(timeout_ns, nap_ns));
    return;
  }
  if (rt.is_watched()) {
    rt.look_for_watchers();
  }
  const thread_waiting::rest quiet(rt.waiting_);
  if (woken_.load(std::memory_order_acquire) == 0) {
    rt.sleep_at_the_doorbell(rt.looks_by_itself() ? std::min(timeout_ns, longest_sleep_ns)
                                                  : timeout_ns);
  }
}

void runtime::impl::fiber_poller::wake() noexcept {
  if (woken_.exchange(1, std::memory_order_acq_rel) == 0) {
    base::futex_wake(woken_, 1);
  }
  for (impl* rt : all_) {
    rt->endpoint_->wake();
  }
}

void runtime::impl::fiber_poller::watch_for_hang() {
  if (all_.size() == 1 && all_.front()->endpoint_->knows_deadlock()) {
    if (!std::exchange(reported_, true)) {
      report("wait, as all other ranks do, and nothing is under way");
    }
    return;
  }
  if (!watches_hangs()) {
    return;
  }
  const std::uint64_t now = now_ns();
  if (happened_ != happened_then_ || quiet_since_ns_ == 0) {
    happened_then_ = happened_;
    quiet_since_ns_ = now;
    reported_ = false;
  } else if (!reported_ && is_hang(static_cast<std::int64_t>(now - quiet_since_ns_))) {
    reported_ = true;
    report("have waited for SINEW_CORE_HANG_TIMEOUT and still wait");
  } else if (!reported_ && !time_reported_ && time_is_up_ns != 0 &&
             now >= static_cast<std::uint64_t>(time_is_up_ns)) {
    time_reported_ = true;
    report("wait now that the job's time is up (--timeout)");
  }
}

void runtime::impl::fiber_poller::report(const char* how) const noexcept try {
  listing all;
  fiber::scheduler::of_process()->each(listing::visit, &all);
  if (all.stuck == 0) {
    return;
  }
  for (const impl* rt : all_) {
    rt->diagnose();
  }
  if (all.stuck > most_listed) {
    all.text += "\n  and " + std::to_string(all.stuck - most_listed) + " more";
  }
  log_line(log_level::error, std::to_string(all.stuck) + " fibers " + how + " (" +
                                 std::to_string(all.others) +
                                 " others are ready or sleep):" + all.text);
} catch (const std::bad_alloc&) {
  base::last_words().add("sinew: no memory to say which fibers wait.\n").write();
}

int runtime::impl::round_for_fibers() {
  if (!serves_fibers()) {
    return 0;
  }
  if (!threaded()) {
    return lead_round();
  }
  lead mine;
  return takes_lead(mine) ? lead_round() : 0;
}

// A runtime for one thread can be polled by fibers only if they are all on one.
bool runtime::impl::serves_fibers() const noexcept {
  const fiber::scheduler* s = fiber::scheduler::of_process();
  return threaded() || (s != nullptr && s->workers() == 1);
}

bool runtime::impl::in_fiber() const noexcept {
  return fiber::self() != nullptr && serves_fibers();
}

void runtime::impl::wait_as_fiber(completion& c) {
  waiting_fiber me;
  if (c.attach(me)) {
    (void)me.wait();
  }
}

}  // namespace sinew::core
