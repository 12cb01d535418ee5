// SPDX-License-Identifier: BSD-3-Clause
#include "fiber/carriers.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <utility>

#include "fiber/hub.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/spin.hpp"
#include "sinew/fiber/carrier.hpp"

namespace sinew::fiber {
namespace {

/// Of a fiber that is away: itself, and the berth that its carrier will wait in afterwards. In the
/// fiber's own thread-local storage.
struct absence {
  fiber* who = nullptr;
  berth* ticket = nullptr;
};
constinit thread_local absence away [[gnu::tls_model("initial-exec")]];

/// A kernel thread between two workers. Entered anew each time, never left but by going to a
/// worker.
void wait_in_berth(void* argument) {
  berth& b = *static_cast<berth*>(argument);
  SINEW_EXPECT(here == nullptr);  // in the storage of the berth
  if (b.arrived != nullptr) {
    // Its stack is left now.
    b.arrived_at->receive(*std::exchange(b.arrived, nullptr));
  }
  process_hub->spares.spare.put(b);
  while (!b.is_called()) {
    // Wait: a spare thread's, for a fiber that blocks.
    base::futex_wait(b.called, 0, base::no_limit);
  }
  b.answer().be_carried([](void* left) { static_cast<berth*>(left)->be_empty(); }, &b);
}

/// A worker without work if there is one, else its own.
worker& best_worker(worker& own) noexcept {
  for (const auto& w : process_hub->workers) {
    if (w->is_asleep() && !own.is_asleep()) {
      return *w;
    }
  }
  return own;
}

}  // namespace

void enable_carriers(std::uintptr_t idle_base, make_carrier make) noexcept {
  SINEW_EXPECT(process_hub != nullptr && make != nullptr && idle_base != 0);
  SINEW_EXPECT(process_hub->spares.make == nullptr);
  worker* const first = here;
  SINEW_EXPECT(first != nullptr && first->number() == 0 && first->current_user() != nullptr);
  // The worker's copy of a thread-local variable lies as far from its thread pointer as ours.
  const std::uintptr_t own = sinew_fiber_thread_base();
  *reinterpret_cast<worker**>(reinterpret_cast<std::uintptr_t>(&here) - own + idle_base) = first;
  first->part_from(*first->current(), own, idle_base);
  process_hub->spares.make = make;
}

bool keep_spare_carrier() noexcept {
  carriers& all = process_hub->spares;
  SINEW_EXPECT(all.make != nullptr);
  if (all.spare.any.load(std::memory_order_relaxed)) {
    return true;
  }
  const auto live = [](void* made) -> void* {
    base::prepare_last_words();
    static_cast<berth*>(made)->base = sinew_fiber_thread_base();
    wait_in_berth(made);
    return nullptr;  // not reached
  };
  try {
    auto fresh = std::make_unique<berth>();
    const bool there = all.make(live, fresh.get()) == 0;
    if (there) {
      (void)fresh.release();  // for ever, like the threads
    }
    return there;
  } catch (const std::exception&) {
    return false;
  }
}

bool leave_worker() noexcept {
  worker* const w = here;
  fiber* const me = w == nullptr ? nullptr : w->current_user();
  if (me == nullptr || !w->could_be_left_by(*me)) {
    return false;
  }
  berth* const spare = process_hub->spares.spare.take();
  if (spare == nullptr) {
    return false;
  }
  SINEW_ASSERT(away.who == nullptr && spare->called.load(std::memory_order_relaxed) == 0);
  away = {me, spare};
  me->doing.store("blocked in the kernel", std::memory_order_relaxed);
  me->apart.store(static_cast<std::uint32_t>(w->thread_number()), std::memory_order_relaxed);
  part_from_worker<real_steps>(*me);
  here = nullptr;
  spare->call(*w);
  base::futex_wake(spare->called, 1);
  return true;
}

bool others_are_ready() noexcept {
  SINEW_EXPECT(here != nullptr);
  return here->has_ready();
}

void return_to_worker() noexcept {
  const absence was = std::exchange(away, {});
  SINEW_EXPECT(was.who != nullptr && was.ticket != nullptr && here == nullptr);
  fiber& me = *was.who;
  berth& b = *was.ticket;
  while (!b.is_empty()) {
    // Wait: for the spare thread, which is on its way to the worker.
    ::sched_yield();
  }
  worker& to = best_worker(*b.work);
  me.apart.store(0, std::memory_order_relaxed);
  me.doing.store(nullptr, std::memory_order_relaxed);
  here = &to;
  b.arrived = &me;
  b.arrived_at = &to;
  void* const top = b.stack.at() + berth::stack_bytes;
  tell_of_switch(me.thread_base, b.base);
  sinew_fiber_switch_storage(&me.sp, sinew_fiber_prepare(top, wait_in_berth, &b), b.base);
  SINEW_ENSURE(here == &to);
}

worker_sight look_at_worker(int number) noexcept {
  SINEW_EXPECT(number >= 0 && static_cast<std::uint32_t>(number) < process_hub->size());
  const worker& w = *process_hub->workers[static_cast<std::size_t>(number)];
  const fiber* const f = w.current_user();
  const bool could = f != nullptr && w.could_be_left_by(*f);
  return {could ? f : nullptr, w.thread_number()};
}

bool all_workers_sleep() noexcept { return process_hub->awake.load() == 0; }

void wait_for_workers() noexcept {
  hub& h = *process_hub;
  h.monitor_rests.store(1);  // see hub::one_more_awake()
  while (h.awake.load() == 0 && h.monitor_rests.load() != 0) {
    // Wait: the monitor's, while nothing runs.
    base::futex_wait(h.monitor_rests, 1, base::no_limit);
  }
  h.monitor_rests.store(0);
}

}  // namespace sinew::fiber
