// SPDX-License-Identifier: BSD-3-Clause
#include "fiber/worker.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "fiber/hub.hpp"
#include "fiber/overflow.hpp"
#include "fiber/pool_part.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/topology.hpp"

namespace sinew::fiber {

thread_local constinit worker* here [[gnu::tls_model("initial-exec")]] = nullptr;

namespace {

constexpr std::size_t idle_stack_bytes = std::size_t{512} << 10;  // the poller's handlers run there
constexpr std::uint64_t longest_sleep_ns = 10'000'000;
constexpr std::uint64_t longest_blind_ns = 1'000'000;

int kernel_thread_number() noexcept { return static_cast<int>(::syscall(SYS_gettid)); }

/// Runs on the stack of the context that follows, once nothing uses the fiber's own any more.
void finish(void* ended) noexcept {
  auto& f = *static_cast<fiber*>(ended);
  worker& w = *static_cast<worker*>(f.argument);
  SINEW_EXPECT(f.done.done() && f.place.load(std::memory_order_relaxed) == nowhere);
  here = &w;  // thread-local storage is the next fiber's, which may not have started yet
  w.current()->notes.arrived();
  f.notes.died();
  w.ended.store(w.ended.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  const bool reaped = f.reaped;
  f.alive.store(false, std::memory_order_release);
  if (reaped) {
    process_hub->give_back(f, &w);
  }
}

}  // namespace

fiber* slot_source::get(hub& h, std::uint8_t stack_class) noexcept {
  fiber* f = caches_[stack_class].get(depots_[stack_class]);
  return f != nullptr ? f : h.memory.carve(cursors_[stack_class], stack_class);
}

void slot_source::put(fiber* f) noexcept {
  caches_[f->stack_class].put(f, depots_[f->stack_class]);
}

worker::worker(hub& h, std::uint32_t number)
    : ready_(h.memory.most_numbers()), hub_(h), number_(number), inbox_(h.memory.most_numbers()) {
  slots.reserve_chunk(h.default_class, number);
}

worker::~worker() = default;

void worker::adopt(fiber& main) {
  SINEW_EXPECT(here == nullptr && number_ == 0);
  idle_stack_ = std::make_unique<lazy_memory>(idle_stack_bytes);
  std::byte* top = idle_stack_->at() + idle_stack_bytes;
  annotations::mapped(idle_stack_->at(), top);
  idle_.notes.born(idle_stack_->at(), idle_stack_bytes);
  idle_.sp = sinew_fiber_prepare(
      top,
      [](void* w) {
        auto& self = *static_cast<worker*>(w);
        self.idle_.notes.arrived();
        self.run_idle();
        // Only when stopping, and then the main fiber does not come back.
      },
      this);
  main.notes.native();
  current_.store(&main, std::memory_order_relaxed);
  thread_base_ = sinew_fiber_thread_base();
  handled_ = handled::of_thread();
  thread_number_.store(kernel_thread_number(), std::memory_order_relaxed);
  here = this;
}

void worker::start(bool pin) {
  thread_ = std::thread([this, pin] {
    here = this;
    if (pin) {
      (void)topology::bind_thread_to_core(static_cast<int>(number_));
    }
    base::prepare_last_words();
    idle_.notes.native();
    thread_number_.store(kernel_thread_number(), std::memory_order_relaxed);
    thread_base_ = sinew_fiber_thread_base();
    handled_ = handled::of_thread();
    current_.store(&idle_, std::memory_order_relaxed);
    run_idle();
  });
}

void worker::join() {
  if (thread_.joinable()) {
    (void)wake_up();
    // Wait: for a worker that was told to end.
    thread_.join();
  }
}

/// The next in the round, or the idle fiber if nobody is ready.
inline fiber* worker::next() noexcept {
  while (ready_.rest() != 0 || refill()) [[likely]] {
    auto* f = reinterpret_cast<fiber*>(base_ + ready_.take() * stride_);
    // A signal for a fiber that has ended may come late: then the slot is empty, or another
    // worker's. Acquire: what the spawner wrote.
    if (f->owner.load(std::memory_order_acquire) == number_) [[likely]] {
      SINEW_ASSERT(f->alive.load(std::memory_order_relaxed));
      return f;
    }
    forward(*f);
  }
  return &idle_;
}

/// A signal for a fiber that has moved since goes after it; one for a fiber of a pool, to the pool.
void worker::forward(fiber& f) noexcept {
  const std::uint64_t place = place_of_stray<real_steps>(f);
  if (place != nowhere && place >> 32U != number_) {
    hub_.workers[place >> 32U]->signal(static_cast<std::uint32_t>(place));
  } else if (place != nowhere && f.owner.load(std::memory_order_acquire) == in_pool) {
    pool_part::arrives(f, *this);
  }
}

/// The same, by way of the idle fiber if it is time to look around.
inline fiber* worker::next_turn() noexcept {
  fiber* f = next();
  if (--budget_ <= 0) [[unlikely]] {
    after_idle_ = f;
    return &idle_;
  }
  return f;
}

/// Takes the next word of ready fibers; false if there is none.
bool worker::refill() noexcept {
  if (++rounds_ % 4 == 0) {
    collect();
  }
  if (hub_.steals && has_offers()) [[unlikely]] {
    take_offers(*this, 64);
  }
  if (!ready_.advance() && !(collect() && ready_.advance())) {
    return false;
  }
  if (ready_.current_word() != base_word_) {
    base_word_ = ready_.current_word();
    const std::uint32_t position = base_word_ * 64;
    const stacks::place& p = hub_.memory.table()[position / slots_per_chunk ^ number_];
    SINEW_ASSERT(p.first != nullptr);  // nobody has a place there before the chunk is
    base_ = p.first + position % slots_per_chunk * p.stride;
    stride_ = p.stride;
  }
  return true;
}

/// Merges the signals that came from elsewhere; true if there were any.
bool worker::collect() noexcept {
  const std::uint64_t numbers = hub_.memory.numbers();
  if (numbers != numbers_seen_) [[unlikely]] {
    numbers_seen_ = numbers;
    signal_levels_ = signal_set<real_steps>::levels_for(std::bit_ceil(numbers));
  }
  return inbox_.signals.drain(signal_levels_, [this](std::uint32_t index, std::uint64_t bits) {
    ready_.merge(index, bits);
  });
}

inline void worker::switch_to(fiber& me, fiber& f) noexcept {
  if (handled_->any()) [[unlikely]] {
    switch_while_handling(me, f);
  } else {
    switch_stacks(me, f);
  }
}

/// Out of line, so that whoever handles nothing has nothing to keep.
void worker::switch_while_handling(fiber& me, fiber& f) noexcept {
  const handled mine = std::exchange(*handled_, {});
  switch_stacks(me, f);
  *handled_ = mine;
}

inline void worker::switch_stacks(fiber& me, fiber& f) noexcept {
  SINEW_EXPECT(current() == &me && &f != &me);
  current_.store(&f, std::memory_order_relaxed);
  me.notes.leaving(f.notes, false);
  if (me.thread_base == f.thread_base) [[likely]] {
    sinew_fiber_switch(&me.sp, f.sp);
  } else {
    const std::uintptr_t base = f.thread_base != 0 ? f.thread_base : thread_base_;
    tell_of_switch(me.thread_base != 0 ? me.thread_base : thread_base_, base);
    sinew_fiber_switch_storage(&me.sp, f.sp, base);
  }
  me.notes.arrived();
}

void worker::leave(fiber& me) noexcept {
  check_stack(me);
  fiber* f = next_turn();
  if (f != &me) {
    switch_to(me, *f);
  }
}

/// Where the round goes on, `me` is marked for the next one. Where it ends, `me` has a place in the
/// new one if that is still ahead. So fibers that yield take turns in a fixed order.
bool worker::give_way(fiber& me) noexcept {
  check_stack(me);
  const auto position = static_cast<std::uint32_t>(me.place.load(std::memory_order_relaxed));
  bool ahead = false;
  if (ready_.rest() == 0) {
    if (!refill()) {
      give_way_to_nobody(me);
      return false;
    }
    ahead = ready_.is_ahead(position);
  }
  fiber* f = next_turn();
  if (f == &me || (f == &idle_ && budget_ > 0)) [[unlikely]] {
    return false;  // all others were late signals
  }
  if (ahead) {
    ready_.set_in_round(position);
  } else {
    ready_.set(position);
  }
  switch_to(me, *f);
  return true;
}

void worker::run_now(fiber& me, fiber& f) noexcept {
  check_stack(me);
  ready_.set(static_cast<std::uint32_t>(me.place.load(std::memory_order_relaxed)));
  switch_to(me, f);
}

void worker::end_slice(fiber& me) noexcept {
  if (worker* const to = lighter(me)) {
    move(me, *to);
    return;
  }
  budget_ = 1;
  (void)give_way(me);
}

/// Another worker that has at least two fibers less to run than this one, or null. The main fiber
/// stays, since much of what the kernel knows of a process it knows of its first thread.
worker* worker::lighter(const fiber& f) noexcept {
  if (hub_.size() == 1 || !could_be_left_by(f) || f.low == nullptr) {
    return nullptr;
  }
  const std::uint32_t own = ready_.count() + 1;
  load_.store(own, std::memory_order_relaxed);
  worker* best = nullptr;
  std::uint32_t least = own - 1;
  for (const auto& w : hub_.workers) {
    if (const std::uint32_t load = w->load_.load(std::memory_order_relaxed); load < least) {
      least = load;
      best = w.get();
    }
  }
  SINEW_ENSURE(best != this);
  return best;
}

/// `me` goes on on another worker. The idle fiber sends it there, once nothing uses its stack.
void worker::move(fiber& me, worker& to) noexcept {
  check_stack(me);
  SINEW_EXPECT(moving_ == nullptr && &to != this);
  to.load_.fetch_add(1, std::memory_order_relaxed);
  moving_ = &me;
  moving_to_ = &to;
  here = &to;  // it has its own copy
  switch_stacks(me, idle_);
}

bool worker::has_ready() const noexcept {
  return ready_.count() != 0 || inbox_.signals.seems_any() ||
         (!sleepers.empty() && sleepers.first_deadline() <= static_cast<std::uint64_t>(now_ns()));
}

void worker::receive(fiber& f) noexcept {
  SINEW_EXPECT(f.thread_base != 0);
  const std::uint64_t place = place_of(f.slot);
  settle_at<real_steps>(f, place);
  signal(static_cast<std::uint32_t>(place));
}

void worker::part_from(fiber& main, std::uintptr_t main_base, std::uintptr_t own_base) noexcept {
  SINEW_EXPECT(main_base != own_base && thread_base_ == main_base);
  main.thread_base = main_base;
  thread_base_ = own_base;
  // In the storage of a library that was there at start, so as far from either.
  handled_ =
      reinterpret_cast<handled*>(reinterpret_cast<std::uintptr_t>(handled_) - main_base + own_base);
}

void worker::be_carried(void (*left)(void*), void* argument) noexcept {
  thread_number_.store(kernel_thread_number(), std::memory_order_relaxed);
  current_.store(&idle_, std::memory_order_relaxed);
  sinew_fiber_leave(idle_.sp, left, argument, thread_base_);
  __builtin_unreachable();
}

void worker::give_way_to_nobody(fiber& me) noexcept {
  if (--budget_ <= 0) {
    ready_.set(static_cast<std::uint32_t>(me.place.load(std::memory_order_relaxed)));
    switch_to(me, idle_);
  } else if (budget_ % 16 == 0 && hub_.crowded()) {
    // Wait: none, one turn for others.
    ::sched_yield();  // what it waits for may need this processor
  }
}

void worker::leave_for_good(fiber& me) noexcept {
  SINEW_EXPECT(current() == &me && me.owner.load(std::memory_order_relaxed) == number_);
  check_stack(me);
  me.place.store(nowhere, std::memory_order_relaxed);
  me.owner.store(nobody, std::memory_order_relaxed);
  me.sp = this;        // for finish()
  me.done.complete();  // before the next is picked: that may be who waits for it
  fiber& f = *next_turn();
  current_.store(&f, std::memory_order_relaxed);
  std::uintptr_t base = 0;
  if (me.thread_base != f.thread_base) {
    base = f.thread_base != 0 ? f.thread_base : thread_base_;
    tell_of_switch(me.thread_base != 0 ? me.thread_base : thread_base_, base);
  }
  me.notes.leaving(f.notes, true);
  me.argument = this;                          // for finish()
  sinew_fiber_leave(f.sp, finish, &me, base);  // a jump: see run()
}

void worker::offer(fiber& f) noexcept {
  const std::lock_guard hold(offers_lock_);
  f.next_fresh = nullptr;
  (first_offer_ == nullptr ? first_offer_ : last_offer_->next_fresh) = &f;
  last_offer_ = &f;
  offers_.store(offers_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
}

/// Makes up to `most` of them this worker's own: from now on they stay.
bool worker::take_offers(worker& from, std::uint32_t most) noexcept {
  fiber* taken = nullptr;
  {
    const std::lock_guard hold(from.offers_lock_);
    const std::uint32_t there = from.offers_.load(std::memory_order_relaxed);
    const std::uint32_t count = std::min(most, there);
    taken = count == 0 ? nullptr : from.first_offer_;
    for (std::uint32_t i = 0; i < count; ++i) {
      fiber& f = *from.first_offer_;
      from.first_offer_ = f.next_fresh;
      (void)f.place.exchange(place_of(f.slot), std::memory_order_acq_rel);  // see place_to_signal
      f.owner.store(number_, std::memory_order_release);
      ready_.set(static_cast<std::uint32_t>(place_of(f.slot)));
      f.locals = nullptr;
    }
    SINEW_ASSERT((there == count) == (from.first_offer_ == nullptr));
    from.offers_.store(there - count, std::memory_order_seq_cst);
  }
  return taken != nullptr;
}

bool worker::may_steal() const noexcept { return hub_.steals && number_ < hub_.ordinary; }

/// Half of what another worker offers.
bool worker::steal() noexcept {
  for (std::uint32_t i = 1; i < hub_.size(); ++i) {
    worker& from = *hub_.workers[(number_ + i) % hub_.size()];
    const std::uint32_t there = from.offers_.load(std::memory_order_relaxed);
    if (there != 0 && take_offers(from, (there + 1) / 2)) {
      return true;
    }
  }
  return false;
}

void worker::end_sleep(std::uint32_t how) noexcept {
  SINEW_EXPECT(how != inbox<real_steps>::awake);
  hub_.one_more_awake();
  if (how == inbox<real_steps>::on_futex) {
    base::futex_wake(inbox_.word(), 1);
  } else if (how == inbox<real_steps>::in_reactor) {
    reactor::wake();
  } else {
    hub_.wake_poller();
  }
}

void worker::run_idle() noexcept {
  while (!hub_.stopping.load(std::memory_order_acquire)) {
    if (moving_ != nullptr) [[unlikely]] {
      moving_to_->receive(*std::exchange(moving_, nullptr));
    }
    look_around();
    budget_ = busy_budget;
    fiber* f = std::exchange(after_idle_, nullptr);
    if (f == nullptr || f == &idle_) {
      f = next();
    }
    if (f == &idle_ && may_steal() && steal()) {
      f = next();
    }
    if (f == &idle_) {
      rest();
    } else {
      quiet_rounds_ = 0;
      quiet_since_ns_ = 0;
      switch_to(idle_, *f);
    }
  }
}

void worker::look_around() noexcept {
  if (quiet_rounds_ != 0) {
    inbox_.signals.expect(signal_levels_);
  }
  hub_.poll();
  if (hub_.watchers.load(std::memory_order_relaxed) != 0) {
    reactor::poll();
  }
  if (!sleepers.empty()) {
    const auto now = static_cast<std::uint64_t>(now_ns());
    while (timers::node* n = sleepers.due(now)) {
      resume(*n->who);
    }
  }
}

/// Between two looks that found nothing: go on, give the processor away, sleep, in that order.
void worker::rest() noexcept {
  if (++quiet_rounds_ == 1) {
    load_.store(0, std::memory_order_relaxed);
  }
  if (hub_.sleeps_at_once()) [[unlikely]] {
    sleep();
    return;
  }
  const bool crowded = hub_.crowded();
  if (!crowded && quiet_rounds_ % 32 != 0 && quiet_rounds_ < 1U << 20U) {
    return;
  }
  const auto now = static_cast<std::uint64_t>(now_ns());
  if (quiet_since_ns_ == 0) {
    quiet_since_ns_ = now;
  }
  const std::uint64_t quiet = now - quiet_since_ns_;
  const hub::patience& limit = crowded ? hub_.in_a_crowd : hub_.alone;
  const bool may_yield = now >= no_yield_until_ns_;
  if (quiet >= limit.spin_ns + (may_yield ? limit.yield_ns : 0)) {
    sleep();
  } else if (quiet >= limit.spin_ns) {
    // Wait: a worker without work; what fibers wait for, the poller of core reports.
    ::sched_yield();
    learn_from_yield(now);
  }
}

/// Where other programs want the processor, a yield gives it away for a slice of theirs: there a
/// worker sleeps instead, which a wake-up ends at once. It tries again, later each time.
void worker::learn_from_yield(std::uint64_t began_ns) noexcept {
  constexpr std::uint64_t slice_ns = 200'000;
  constexpr std::uint64_t shortest_ns = 10'000'000;
  constexpr std::uint64_t longest_ns = 1'000'000'000;
  const auto now = static_cast<std::uint64_t>(now_ns());
  if (now - began_ns < slice_ns) {
    no_yield_ns_ = 0;
    return;
  }
  no_yield_ns_ = std::clamp(2 * no_yield_ns_, shortest_ns, longest_ns);
  no_yield_until_ns_ = now + no_yield_ns_;
}

void worker::starts_watching() noexcept {
  if (watching_++ == 0) {
    hub_.watchers.fetch_add(1, std::memory_order_relaxed);
  }
}

void worker::stops_watching() noexcept {
  SINEW_EXPECT(watching_ != 0);
  if (--watching_ == 0) {
    hub_.watchers.fetch_sub(1, std::memory_order_relaxed);
  }
}

bool worker::rouse() noexcept {
  constexpr auto awake = inbox<real_steps>::awake;
  if (inbox_.word().load() != inbox<real_steps>::on_futex) {
    return false;
  }
  const std::uint32_t how = inbox_.wake_up();
  if (how != awake) {
    end_sleep(how);
  }
  return how != awake;
}

/// No signal is missed, nor `stopping`, nor an offer: see inbox.hpp. A poller's wake() also ends a
/// sleep() that begins later.
void worker::sleep() noexcept {
  std::uint64_t limit = base::no_limit;
  if (!sleepers.empty()) {
    const auto now = static_cast<std::uint64_t>(now_ns());
    limit = std::max(sleepers.first_deadline(), now) - now;
  }
  const std::uint64_t reactor_left = hub_.left_reactor.load();
  const auto prepared = [this](std::uint32_t how, auto other) {
    hub_.awake.fetch_sub(1, std::memory_order_relaxed);
    return inbox_.lie_down(how, [this, other] {
      return hub_.stopping.load(std::memory_order_seq_cst) || (may_steal() && hub_.any_offers()) ||
             other();
    });
  };
  const auto nothing = [] { return false; };
  constexpr std::uint32_t on_futex = inbox<real_steps>::on_futex;
  constexpr std::uint32_t in_poller = inbox<real_steps>::in_poller;
  constexpr std::uint32_t in_reactor = inbox<real_steps>::in_reactor;
  // With a poller or descriptors: somebody must take the place of the worker that sleeps there,
  // should it find long work. In the poller nobody sees descriptors.
  const bool files = hub_.watchers.load(std::memory_order_relaxed) != 0;
  const bool shared = files || hub_.has_poller();
  const std::uint64_t shorter =
      shared && !hub_.sleeps_at_once() ? std::min(limit, longest_sleep_ns) : limit;
  // Once that one has slept as long as this one, with nothing to do, it calls before it works.
  const bool is_calm = slept_through_ && reactor_left == reactor_left_;
  const bool without_limit = !hub_.has_poller() && (!files || is_calm);
  const bool slept = hub_.sleep_in_poller(files ? std::min(limit, longest_blind_ns) : shorter, [&] {
    return prepared(in_poller, nothing);
  }) || (files && hub_.sleep_in_reactor(*this, hub_.has_poller() ? shorter : limit, [&] {
                       return prepared(in_reactor, nothing);
                     }));
  bool counted = false;
  const auto left_meanwhile = [&] {
    if (!without_limit) {
      return false;
    }
    counted = true;
    hub_.sleep_long.fetch_add(1);
    return files && hub_.left_reactor.load() != reactor_left;
  };
  const bool waits = !slept && prepared(on_futex, left_meanwhile);
  if (waits) {
    // Wait: for work; with a limit as long as somebody may have to look for events.
    base::futex_wait(inbox_.word(), on_futex, without_limit ? limit : shorter);
  }
  if (counted) {
    hub_.sleep_long.fetch_sub(1);
  }
  slept_through_ = inbox_.get_up();
  if (slept_through_) {
    hub_.one_more_awake();
  }
  slept_through_ = slept_through_ && waits;
  reactor_left_ = reactor_left;
}

}  // namespace sinew::fiber
