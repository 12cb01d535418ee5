// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fiber/scheduler.hpp"

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "fiber/hub.hpp"
#include "fiber/local_values.hpp"
#include "fiber/memory_limit.hpp"
#include "fiber/overflow.hpp"
#include "fiber/pool_part.hpp"
#include "fiber/quit.hpp"
#include "fiber/stacks.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/topology.hpp"

namespace sinew::fiber {

constinit hub* process_hub = nullptr;

extern "C" {
/// Found by its name.
[[gnu::used]] constinit debug_view sinew_fiber_debug{};
}

namespace {

constexpr std::int64_t most_workers = 4096;
constexpr std::int64_t largest_stack = std::int64_t{4096} << (stack_classes - 1);

setting<std::int64_t> stack_bytes("fiber", "stack", 65536, "bytes",
                                  "stack of a fiber that asks for none",
                                  {.least = 4096, .most = largest_stack});
setting<std::int64_t> worker_count("fiber", "workers", 0, "",
                                   "threads that run fibers (0: one per usable core)",
                                   {.least = 0, .most = most_workers});
setting<std::int64_t> guarded("fiber", "guarded", 16384, "",
                              "stacks with a guard page (two mappings each); later ones have a "
                              "canary",
                              {.least = 0, .most = 1 << 24});
setting<std::int64_t> memory("fiber", "memory", 0, "bytes",
                             "what all stacks may take at least, a touched page each; then there "
                             "are no more fibers (0: what the machine or the control group has)",
                             {.least = 1 << 20, .most = most_setting_bytes, .or_zero = true});
setting<std::int64_t> spin_us("fiber", "spin_us", 20, "us",
                              "how long an idle worker polls without pause before it yields",
                              {.least = 0, .most = most_setting_us});
setting<std::int64_t> yield_us("fiber", "yield_us", 2000, "us",
                               "how long an idle worker polls and yields before it sleeps",
                               {.least = 0, .most = most_setting_us});
setting<std::int64_t> crowded_yield_us("fiber", "crowded_yield_us", 100, "us",
                                       "the same with more workers awake than processors",
                                       {.least = 0, .most = most_setting_us});

scheduler* the_scheduler = nullptr;

void describe(hub& h, const fiber& any) {
  for (const auto& w : h.workers) {
    h.current_fibers.push_back(w->where_current_is());
  }
  const auto number = [](const void* p) { return reinterpret_cast<std::uint64_t>(p); };
  debug_view& d = sinew_fiber_debug;
  h.memory.describe(d);
  d.workers = h.current_fibers.size();
  d.current = number(h.current_fibers.data());
  d.sp = number(&any.sp) - number(&any);
  d.alive = number(&any.alive) - number(&any);
  d.doing = number(&any.doing) - number(&any);
  d.name = number(&any.name) - number(&any);
}
poller* process_poller = nullptr;

int workers_wanted(const scheduler_options& how) {
  const auto cores = static_cast<std::int64_t>(topology::cores().size());
  const std::int64_t wanted = how.workers > 0 ? how.workers : worker_count();
  const std::int64_t n = wanted > 0 ? wanted : std::max<std::int64_t>(cores, 1);
  SINEW_CHECK(n <= most_workers && how.further >= 0 && how.further <= most_workers - n,
              "cannot make " + std::to_string(n + how.further) + " workers",
              "at most " + std::to_string(most_workers) + " are supported",
              "set SINEW_FIBER_WORKERS to the number of cores, or leave it out");
  return static_cast<int>(n);
}

std::uint64_t memory_for_stacks(std::int64_t guards) {
  const auto asked = static_cast<std::uint64_t>(memory());
  return asked != 0 ? asked : stacks_within(memory_limit(), guards);
}

/// Where the workers will run, for scheduler_options::nodes; empty if there is nothing to choose.
/// `count`: without further ones.
std::vector<int> nodes_of_workers(int count, const scheduler_options& how) {
  std::vector<int> all;
  const auto& cores = topology::cores();
  if (how.nodes == 1 || (how.nodes == 0 && (!how.pin || topology::numa_nodes() < 2 ||
                                            static_cast<std::size_t>(count) != cores.size()))) {
    return all;  // they run anywhere, or it is all the same
  }
  for (int i = 0; i < count + how.further; ++i) {
    const std::size_t core = static_cast<std::size_t>(i) % std::max<std::size_t>(cores.size(), 1);
    all.push_back(how.nodes > 1 ? i % how.nodes : cores[core].numa_node);
  }
  if (how.nodes == 0) {  // the first worker is not bound: it stays where it is, more or less
    const int cpu = topology::current_cpu();
    for (const topology::core& c : cores) {
      if (std::find(c.cpus.begin(), c.cpus.end(), cpu) != c.cpus.end()) {
        all[0] = c.numa_node;
      }
    }
  }
  return all;
}

}  // namespace

hub::hub(std::uint32_t count, const guard_counts& guards, std::uint64_t stack_memory,
         std::uint8_t stack_class, const std::vector<int>& node_numbers)
    : memory(count, guards, stack_memory), default_class(stack_class) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const int number = node_numbers.empty() ? -1 : node_numbers[i];
    const auto known = std::find_if(nodes.begin(), nodes.end(),
                                    [&](const auto& n) { return n->number == number; });
    if (known == nodes.end()) {
      auto& fresh = *nodes.emplace_back(std::make_unique<node>());
      fresh.number = number;
      fresh.outside.belong_to(fresh.depots.data(), number);
      node_of_worker.push_back(&fresh);
    } else {
      node_of_worker.push_back(known->get());
    }
    workers.push_back(std::make_unique<worker>(*this, i));
    workers[i]->slots.belong_to(node_of_worker[i]->depots.data(), number);
  }
}

fiber* hub::get_slot(worker* by, int wanted, std::uint8_t stack_class) noexcept {
  const auto at = static_cast<std::uint32_t>(wanted) % size();
  if (by != nullptr &&
      (wanted < 0 || nodes.size() == 1 || node_of_worker[at] == node_of_worker[by->number()])) {
    return by->slots.get(*this, stack_class);
  }
  SINEW_EXPECT(wanted >= 0);
  node& from = *node_of_worker[at];
  const std::lock_guard hold(from.lock);
  return from.outside.get(*this, stack_class);
}

std::uint64_t hub::living() const noexcept {
  std::uint64_t ended = 0;
  for (const auto& w : workers) {
    ended += w->ended.load(std::memory_order_acquire);
  }
  std::uint64_t made = made_outside.load(std::memory_order_acquire);
  for (const auto& w : workers) {
    made += w->made.load(std::memory_order_acquire);
  }
  SINEW_ENSURE(made >= ended);
  return made - ended;
}

bool hub::any_offers() const noexcept {
  return std::any_of(workers.begin(), workers.end(), [](const auto& w) { return w->has_offers(); });
}

void hub::poll() noexcept {
  if (poller_.load(std::memory_order_relaxed) == nullptr || polling_.exchange(true)) {
    return;
  }
  if (poller* p = poller_.load()) {
    (void)p->poll();
  }
  polling_.store(false);
}

void hub::rouse_one(const worker& by) noexcept {
  for (const auto& w : workers) {
    if (w.get() != &by && w->rouse()) {
      return;
    }
  }
}

void hub::wake_poller() noexcept {
  waking_.fetch_add(1);
  if (poller* p = poller_.load()) {
    p->wake();
  }
  waking_.fetch_sub(1);
}

void hub::wake_monitor() noexcept {
  if (monitor_rests.exchange(0) != 0) {
    base::futex_wake(monitor_rests, 1);
  }
}

void hub::set_poller(poller* p) noexcept {
  sleeps_at_once_.store(p != nullptr && p->sleeps_at_once(), std::memory_order_relaxed);
  poller* old = poller_.exchange(p);
  while (polling_.load()) {
    if (old != nullptr) {
      old->wake();
    }
    // Wait: for a worker that is leaving the poller.
    ::sched_yield();
  }
  while (waking_.load() != 0) {
    // Wait: for a wake-up under way.
    ::sched_yield();
  }
  for (const auto& w : workers) {
    (void)w->wake_up();  // somebody must go and poll
  }
}

void hub::give_back(fiber& f, worker* by) noexcept {
  SINEW_EXPECT(f.done.done() && !f.alive.load(std::memory_order_relaxed));
  // From now on it looks joined: whoever joins it again is told so.
  f.done.reset(&f.reaper);
  const int number = memory.node_of(f);
  if (by != nullptr && node_of_worker[by->number()]->number == number) {
    by->slots.put(&f);
    return;
  }
  node& of = **std::find_if(nodes.begin(), nodes.end(),
                            [&](const auto& n) { return n->number == number; });
  const std::lock_guard hold(of.lock);
  of.outside.put(&f);
}

void hub::launch(fiber& f, worker* from, int wanted, bool pooled) noexcept {
  SINEW_EXPECT(f.place.load(std::memory_order_relaxed) == nowhere);
  SINEW_EXPECT(f.owner.load(std::memory_order_relaxed) == nobody);
  if (from != nullptr) {
    from->made.store(from->made.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  } else {
    made_outside.fetch_add(1, std::memory_order_release);
  }
  f.alive.store(true, std::memory_order_relaxed);
  SINEW_EXPECT(!pooled || wanted >= 0);
  if (steals && wanted < 0 && from != nullptr) {
    from->offer(f);
    for (std::size_t i = 0; i < ordinary; ++i) {
      if (workers[i].get() != from && workers[i]->wake_up()) {
        break;
      }
    }
    return;
  }
  worker* to = from;
  if (wanted >= 0) {
    to = workers[static_cast<std::uint32_t>(wanted) % size()].get();
  } else if (to == nullptr) {
    to = workers[static_cast<std::uint32_t>(next_in_turn())].get();
  }
  const std::uint64_t place = to->place_of(f.slot);
  f.place.store(place, std::memory_order_release);
  f.owner.store(pooled ? in_pool : to->number(), std::memory_order_release);
  const auto position = static_cast<std::uint32_t>(place);
  if (to == from) {
    to->set_ready(position);
  } else {
    to->signal(position);
  }
}

struct scheduler::body : hub {
  using hub::hub;
  fiber* main = nullptr;
};

scheduler::scheduler(const scheduler_options& how) {
  SINEW_CHECK(process_hub == nullptr, "cannot make a scheduler of fibers",
              "this process has one already", "share it: scheduler::of_process()");
  const int count = workers_wanted(how);
  const std::uint8_t stack_class = stacks::class_of(static_cast<std::size_t>(stack_bytes()));
  SINEW_ASSERT(stack_class < stack_classes);
  const guard_counts guards = guards_within_limit(guarded());
  auto made = std::make_unique<body>(static_cast<std::uint32_t>(count + how.further), guards,
                                     memory_for_stacks(guards.stacks), stack_class,
                                     nodes_of_workers(count, how));
  made->ordinary = static_cast<std::uint32_t>(count);
  made->steals = how.steal && count > 1;
  const auto ns = [](std::int64_t us) { return static_cast<std::uint64_t>(us) * 1000; };
  made->alone = {ns(spin_us()), ns(yield_us())};
  made->in_a_crowd = {0, ns(crowded_yield_us())};
  made->always_crowded = how.crowded;
  made->processors = static_cast<std::uint32_t>(topology::usable_cpus());
  made->awake.store(made->size(), std::memory_order_relaxed);
  worker& first = *made->workers[0];
  made->main = first.slots.get(*made, stack_class);
  SINEW_CHECK(made->main != nullptr, "cannot make a scheduler of fibers",
              "there is no memory for a first stack", "set SINEW_FIBER_STACK to less");
  install_reports();
  handle_quit();
  fiber& main = *made->main;
  std::copy_n("main", 5, main.name);
  main.alive.store(true, std::memory_order_relaxed);
  main.place.store(first.place_of(main.slot), std::memory_order_relaxed);
  main.owner.store(0, std::memory_order_relaxed);
  main.low = nullptr;
  main.canary = &main.own_canary;
  first.adopt(main);
  describe(*made, main);
  body_ = made.release();
  process_hub = body_;
  the_scheduler = this;
  // Other processes may share the cores: a worker keeps to one only where each has its own. The
  // caller's thread is left alone, because threads that it starts would inherit its core.
  const bool pin = how.pin && static_cast<std::size_t>(count) == topology::cores().size();
  for (std::size_t i = 1; i < body_->workers.size(); ++i) {
    body_->workers[i]->start(pin && i < body_->ordinary);
  }
  if (process_poller != nullptr) {
    set_poller(process_poller);
  }
}

scheduler::~scheduler() {
  SINEW_EXPECT(here != nullptr && here->current() == body_->main);
  while (body_->living() != 0) {
    // Wait: for fibers, which the poller of core reports.
    sleep_for(50'000);
  }
  destroy_locals(*body_->main);
  body_->stopping.store(true, std::memory_order_seq_cst);
  for (const auto& w : body_->workers) {
    w->join();
  }
  remove_reports();
  handle_quit_no_more();
  here = nullptr;
  sinew_fiber_debug = {};
  process_hub = nullptr;
  the_scheduler = nullptr;
  delete body_;
}

scheduler* scheduler::of_process() noexcept { return the_scheduler; }

int scheduler::workers() const noexcept { return static_cast<int>(body_->size()); }

int scheduler::further_workers() const noexcept {
  return static_cast<int>(body_->size() - body_->ordinary);
}

int scheduler::this_worker() noexcept {
  const worker* w = here;
  return w == nullptr ? -1 : static_cast<int>(w->number());
}

void scheduler::abandon() noexcept {
  reactor::abandon();
  here = nullptr;
  the_scheduler = nullptr;
}

void scheduler::set_poller(poller* p) noexcept { body_->set_poller(p); }

void scheduler::set_process_poller(poller* p) noexcept {
  process_poller = p;
  if (the_scheduler != nullptr) {
    the_scheduler->set_poller(p);
  }
}

std::uint64_t scheduler::living() const noexcept { return body_->living(); }

void scheduler::each(void (*visit)(void* context, const fiber& f, const char* state),
                     void* context) const {
  body_->memory.each([&](const fiber& f) {
    const std::uint64_t place = f.place.load(std::memory_order_acquire);
    if (!f.alive.load(std::memory_order_relaxed)) {
      return;
    }
    if (place == nowhere) {
      if (!f.done.done()) {
        const char* state = f.doing.load(std::memory_order_relaxed);
        visit(context, f, state == nullptr ? "changing its worker" : state);
      }
      return;
    }
    const worker& w = *body_->workers[place >> 32U];
    const char* state = f.doing.load(std::memory_order_relaxed);
    if (w.current() == &f) {
      state = "running";
    } else if (w.is_ready(static_cast<std::uint32_t>(place))) {
      state = "ready";
    } else if (state == nullptr) {
      state = "suspended";
    }
    visit(context, f, state);
  });
}

}  // namespace sinew::fiber
