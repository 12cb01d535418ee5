// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fiber/pool.hpp"

#include <mutex>
#include <new>
#include <utility>

#include "fiber/hub.hpp"
#include "fiber/pool_part.hpp"
#include "fiber/worker.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fiber {
namespace {

/// The outermost function of a pool's fibers.
void run_pooled(void* record) {
  auto* const mine = static_cast<pooled*>(record);
  mine->entry(mine->about.argument);
  // From here on it is a fiber like others, for what its end may still wait for.
  fiber& me = *self();
  SINEW_ASSERT(me.owner.load(std::memory_order_relaxed) == in_pool && !mine->links.listed);
  me.owner.store(here->number(), std::memory_order_release);
  pool& of = *mine->part->of;
  delete mine;
  pool_part::ended(of);
}

}  // namespace

bool by_priority(void* /*context*/, const work& a, const work& b) noexcept {
  return a.priority != b.priority ? a.priority > b.priority : a.arrival < b.arrival;
}

bool pool_part::order::operator()(const pool_entry& a, const pool_entry& b) const noexcept {
  return of->of->how_.order(of->of->how_.context, a.about, b.about);
}

void pool_part::ended(pool& of) noexcept { of.one_less(); }

void pool_part::add(pool_entry& e, int priority) noexcept {
  e.about.priority = priority;
  e.about.arrival = ++arrivals;
  ready.add(e);
}

void pool_part::arrives(fiber& f, worker& at) noexcept {
  auto& mine = *static_cast<pooled*>(f.argument);
  SINEW_EXPECT(mine.runs == &f && f.owner.load(std::memory_order_relaxed) == in_pool);
  if (!mine.links.listed) {
    pool_part& part = *mine.part;
    part.add(mine, mine.priority);
    at.set_ready(static_cast<std::uint32_t>(part.turns->place.load(std::memory_order_relaxed)));
  }
}

void pool_part::take(tasklet& t) noexcept {
  {
    const std::lock_guard hold(lock);
    t.links.next = nullptr;
    (last == nullptr ? first : last->links.next) = &t;
    last = &t;
  }
  resume(*turns);
}

void pool_part::collect() noexcept {
  pool_entry* all = nullptr;
  {
    const std::lock_guard hold(lock);
    all = std::exchange(first, nullptr);
    last = nullptr;
  }
  while (all != nullptr) {
    pool_entry& now = *std::exchange(all, all->links.next);
    add(now, now.about.priority);
  }
}

void pool_part::run() noexcept {
  fiber& me = *self();
  worker& w = *here;
  while (true) {
    collect();
    if (ready.empty()) {
      if (stopping.load(std::memory_order_acquire)) {
        return;
      }
      me.doing.store("work of its pool", std::memory_order_relaxed);
      w.leave(me);
      me.doing.store(nullptr, std::memory_order_relaxed);
      continue;
    }
    // Others may be marked as ready, but not have come yet. A fiber that is ready waits until each
    // of the others has run twice at most (ready_set), so after this all that were have come.
    (void)w.give_way(me);
    (void)w.give_way(me);
    collect();
    SINEW_ASSERT(!ready.empty());  // nobody else takes from it
    pool_entry& next = *ready.first();
    ready.remove(next);
    if (next.runs != nullptr) {
      w.run_now(me, *next.runs);
    } else {
      auto& t = static_cast<tasklet&>(next);
      t.action(t);  // it may be gone
      ended(*of);
    }
  }
}

pool::pool(const pool_options& how) : how_(how), workers_(process_hub->size()) {
  parts_ = std::make_unique<pool_part[]>(workers_);
  for (std::size_t i = 0; i < workers_; ++i) {
    pool_part& part = parts_[i];
    part.of = this;
    const spawn_options turns{
        .name = "pool", .stack_bytes = how.stack_bytes, .worker = static_cast<int>(i)};
    const status made = sinew::fiber::spawn([](void* p) { static_cast<pool_part*>(p)->run(); },
                                            &part, &part.turns, turns);
    if (!made.done()) {
      workers_ = i;
      stop();
      throw std::bad_alloc();
    }
  }
}

pool::~pool() {
  SINEW_EXPECT(self() == nullptr || self()->owner.load(std::memory_order_relaxed) != in_pool);
  sleeper me("end of a pool");
  empty_.lock();
  if (living_ != 0) {
    empty_.push(me);
    empty_.unlock();
    (void)empty_.wait(me);
  } else {
    empty_.unlock();
  }
  stop();
}

void pool::stop() noexcept {
  for (std::size_t i = 0; i < workers_; ++i) {
    parts_[i].stopping.store(true, std::memory_order_release);
    resume(*parts_[i].turns);
    join(*parts_[i].turns);
  }
}

void pool::one_more() noexcept {
  const std::lock_guard hold(empty_);
  ++living_;
}

void pool::one_less() noexcept {
  empty_.lock();
  SINEW_EXPECT(living_ != 0);
  if (--living_ == 0) {
    empty_.wake_all_unlock();
  } else {
    empty_.unlock();
  }
}

status pool::spawn(void (*entry)(void*), void* argument, int priority, fiber** made,
                   const spawn_options& how) noexcept {
  SINEW_EXPECT(how.thread_base == 0 && how.in == nullptr);
  auto* const mine = new (std::nothrow) pooled;
  if (mine == nullptr) {
    return status::again(retry_reason::no_memory);
  }
  mine->about.argument = argument;
  mine->entry = entry;
  mine->priority = priority;
  spawn_options with = how;
  with.worker = share(how.worker);
  with.in = mine;
  mine->part = &parts_[static_cast<std::size_t>(with.worker)];
  one_more();
  const status s = sinew::fiber::spawn(run_pooled, mine, made, with);
  if (!s.done()) {
    delete mine;
    one_less();
  }
  return s;
}

int pool::share(int worker) const noexcept {
  const auto workers = static_cast<std::uint32_t>(workers_);
  if (worker >= 0) {
    return static_cast<int>(static_cast<std::uint32_t>(worker) % workers);
  }
  const class worker* const mine = here;
  SINEW_ASSERT(mine == nullptr || mine->number() < workers);
  return static_cast<int>(mine != nullptr ? static_cast<int>(mine->number())
                                          : process_hub->next_in_turn());
}

void pool::post(tasklet& t, int worker) noexcept {
  SINEW_EXPECT(t.action != nullptr && !t.links.listed);
  one_more();
  parts_[static_cast<std::size_t>(share(worker))].take(t);
}

bool pool::set_priority(int priority) noexcept {
  fiber* const me = self();
  if (me == nullptr || me->owner.load(std::memory_order_relaxed) != in_pool) {
    return false;
  }
  static_cast<pooled*>(me->argument)->priority = priority;
  return true;
}

}  // namespace sinew::fiber
