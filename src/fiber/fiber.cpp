// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fiber/fiber.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "fiber/cancellation.hpp"
#include "fiber/hub.hpp"
#include "fiber/local_values.hpp"
#include "fiber/pool_part.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/base/spin.hpp"
#include "sinew/fiber/sleeper.hpp"
#include "sinew/fiber/thread_storage.hpp"

namespace sinew::fiber {
namespace {

/// The outermost call of every fiber. An exception finds no handler below, so the program ends
/// where it was thrown, with the whole stack to look at. It is entered and left by jumps only, so
/// the processor's return stack is in step with the frames of whoever follows.
void run(void* block) {
  auto& me = *static_cast<fiber*>(block);
  SINEW_EXPECT(me.place.load(std::memory_order_relaxed) != nowhere);
  // The fiber may have thread-local storage of its own.
  here = process_hub->workers[me.place.load(std::memory_order_relaxed) >> 32U].get();
  me.notes.arrived();
  me.doing.store(nullptr, std::memory_order_relaxed);
  me.entry(me.argument);
  if (me.locals != nullptr) [[unlikely]] {
    destroy_locals(me);
  }
  here->leave_for_good(me);  // perhaps not the worker that it began on
}

/// Fires when nobody joins.
void reap(waiter& w) noexcept { fiber::of_reaper(w).reaped = true; }

/// Gives back the slot of a fiber that has completed; it may not be off its stack yet, if it ran on
/// another worker.
void retire(fiber& f) noexcept {
  SINEW_EXPECT(f.done.done());
  for (int i = 0; f.alive.load(std::memory_order_acquire); ++i) {
    if (i < 100) {
      // Wait: for a worker that is leaving the fiber's stack.
      cpu_relax();
    } else {
      // Wait: the same.
      ::sched_yield();
    }
  }
  process_hub->give_back(f, here);
}

[[noreturn]] void misuse(const fiber& f, std::string_view what) noexcept {
  std::string text = "sinew: fiber \"";
  text.append(name(f)).append("\" ").append(what).append(".\n");
  base::raw_write(2, text);
  std::abort();
}

void set_name(fiber& f, std::string_view name) noexcept {
  std::memset(f.name, 0, sizeof f.name);
  if (!name.empty()) {
    std::memcpy(f.name, name.data(), std::min(name.size(), sizeof f.name - 1));
  }
}

/// From another worker, or one that has ended, or has not been taken by a worker yet.
[[gnu::noinline]] void resume_elsewhere(fiber& f) noexcept {
  const std::uint64_t place = place_to_signal<real_steps>(f);
  if (place != nowhere) {
    process_hub->workers[place >> 32U]->signal(static_cast<std::uint32_t>(place));
  }
}

struct joiner final : waiter, sleeper {
  explicit joiner(const char* why) noexcept : sleeper(why) {
    fire = [](waiter& w) noexcept { static_cast<joiner&>(w).wake(); };
  }
};

}  // namespace

fiber* self() noexcept {
  const worker* w = here;
  return w == nullptr ? nullptr : w->current_user();
}

status spawn(void (*entry)(void* argument), void* argument, fiber** made,
             const spawn_options& how) noexcept {
  SINEW_EXPECT(process_hub != nullptr && entry != nullptr);
  hub& h = *process_hub;
  worker* const w = here;
  const std::uint8_t stack_class =
      how.stack_bytes == 0 ? h.default_class : stacks::class_of(how.stack_bytes);
  if (stack_class >= stack_classes) {
    return status::again(retry_reason::no_memory);
  }
  const int wanted = w != nullptr || how.worker >= 0 ? how.worker : h.next_in_turn();
  fiber* const f = h.get_slot(w, wanted, stack_class);
  if (f == nullptr) {
    return status::again(retry_reason::no_memory);
  }
  f->entry = entry;
  f->argument = argument;
  f->thread_base = how.thread_base;
  f->apart.store(0, std::memory_order_relaxed);
  f->sp = sinew_fiber_prepare(reinterpret_cast<void*>(f), run, f);
  f->doing.store("not started", std::memory_order_relaxed);
  set_name(*f, how.name);
  f->reaper.fire = reap;
  f->reaped = false;
  f->done.reset(how.detached ? &f->reaper : nullptr);
  f->notes.born(f->low, static_cast<std::size_t>(reinterpret_cast<std::byte*>(f) -
                                                 static_cast<std::byte*>(f->low)));
  if (how.in != nullptr) {
    how.in->runs = f;
  }
  h.launch(*f, w, wanted, how.in != nullptr);
  if (made != nullptr) {
    *made = f;
  }
  return status::ok();
}

void join(fiber& f) { (void)join_until(f, no_deadline, false); }

waited join_until(fiber& f, std::uint64_t deadline_ns, bool may_be_cancelled) {
  if (&f == self()) {
    misuse(f, "joins itself, and would wait for ever");
  }
  if (!f.done.done()) {
    joiner me("join");
    const auto* const calls_off = may_be_cancelled ? calls_off_self() : nullptr;
    if (f.done.attach(me)) {
      if (!me.wait(deadline_ns, calls_off)) {
        if (f.done.detach(me)) {
          return ended_early(calls_off);
        }
        (void)me.wait();  // it is just being fired
      }
    } else if (!f.done.done()) {
      misuse(f, "is joined twice, or was detached");
    }
  }
  retire(f);
  return waited::done;
}

bool cancel(fiber& f) noexcept {
  if (f.thread_base != 0) {
    return false;
  }
  f.apart.store(1, std::memory_order_seq_cst);
  resume_from_handler(f);
  return true;
}

bool is_cancelled() noexcept {
  const fiber* const me = self();
  return me != nullptr && me->thread_base == 0 && me->apart.load(std::memory_order_relaxed) != 0;
}

void detach(fiber& f) noexcept {
  if (f.done.attach(f.reaper)) {
    return;
  }
  if (!f.done.done()) {
    misuse(f, "is detached, but somebody joins it or it was detached before");
  }
  retire(f);
}

bool ended(const fiber& f) noexcept { return f.done.done(); }

int thread_running(const fiber& f) noexcept {
  const std::uint64_t place = f.place.load(std::memory_order_acquire);
  if (place == nowhere) {
    return f.thread_base != 0 ? static_cast<int>(f.apart.load(std::memory_order_relaxed)) : 0;
  }
  const worker& w = *process_hub->workers[place >> 32U];
  return w.current() == &f ? w.thread_number() : 0;
}

bool yield() noexcept {
  worker* const w = here;
  fiber* const me = w == nullptr ? nullptr : w->current_user();
  if (me == nullptr) {
    // Wait: none, one turn for others.
    ::sched_yield();
    return true;
  }
  return w->give_way(*me);
}

void end_slice() noexcept {
  worker* const w = here;
  SINEW_EXPECT(w != nullptr && w->current_user() != nullptr);
  w->end_slice(*w->current());
}

void suspend() noexcept {
  worker* const w = here;
  SINEW_EXPECT(w != nullptr && w->current_user() != nullptr);
  w->leave(*w->current());
}

void resume(fiber& f) noexcept {
  const std::uint64_t place = f.place.load(std::memory_order_acquire);
  const auto position = static_cast<std::uint32_t>(place);
  const auto owner = static_cast<std::uint32_t>(place >> 32U);
  worker* const w = here;
  if (w != nullptr && w->number() == owner) [[likely]] {
    w->set_ready(position);
  } else if (place != nowhere) {
    process_hub->workers[owner]->signal(position);
  } else {
    resume_elsewhere(f);
  }
}

void resume_from_handler(fiber& f) noexcept { resume_elsewhere(f); }

void wait(completion& c) {
  if (c.done()) {
    return;
  }
  joiner me("wait");
  if (c.attach(me)) {
    (void)me.wait();
  }
}

void sleep_for(std::uint64_t ns) noexcept {
  const auto now = static_cast<std::uint64_t>(now_ns());
  sleeper me("sleep");
  (void)me.wait(ns > no_deadline - 1 - now ? no_deadline - 1 : now + ns);
}

waited sleep_until(std::uint64_t deadline_ns) noexcept {
  sleeper me("sleep");
  const auto* const calls_off = calls_off_self();
  (void)me.wait(std::min(deadline_ns, no_deadline - 1), calls_off);
  return ended_early(calls_off);
}

bool thread_storage_supported() noexcept { return sinew_fiber_can_set_thread_base() != 0; }

constinit std::atomic<storage_switch> storage_watcher{nullptr};

void watch_storage_switches(storage_switch seen) noexcept {
  storage_watcher.store(seen, std::memory_order_relaxed);
}

std::uintptr_t thread_base() noexcept { return sinew_fiber_thread_base(); }

void rename(fiber& f, std::string_view to) noexcept { set_name(f, to); }

std::string_view name(const fiber& f) noexcept {
  return {f.name, ::strnlen(f.name, sizeof f.name)};
}

}  // namespace sinew::fiber
