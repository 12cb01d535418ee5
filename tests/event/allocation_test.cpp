// SPDX-License-Identifier: BSD-3-Clause
// A job of events, barriers, queues, reservations and tasks in which each allocation fails in turn.
#include <exception>
#include <thread>

#include "event_fixture.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/completion_queue.hpp"
#include "sinew/event/coroutine.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/event/task.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/failing_job.hpp"

namespace sinew::event {
namespace {

struct board {
  std::atomic<std::uint64_t> event_bits{0};
  std::atomic<std::uint64_t> lock_bits{0};
  barrier phases{};
};

void nothing(int) {}
void nothing_much(std::array<char, 200>) {}
void add_up(void* into, const void* value) {
  *static_cast<std::uint64_t*>(into) += *static_cast<const std::uint64_t*>(value);
}

activity follow(system& s, event first, event second) {
  (void)co_await until(s, first);
  co_return co_await until(s, second) == state::triggered;
}

void good(system& s, event e) {
  if (s.wait(e) != state::triggered) {
    test::end_with("an event was poisoned");
  }
}

void events_and_barriers(const event_member& m, board& shared) {
  system& s = m.events;
  constexpr std::uint64_t zero = 0;
  if (m.rank == 0) {
    shared.phases = s.all_barriers().create(2, {sizeof zero, add_up, &zero});
    shared.event_bits = s.create().bits();
  }
  m.meet();
  const auto theirs = event::from_bits(shared.event_bits.load());
  std::vector<user_event> mine;
  for (int i = 0; i < 40; ++i) {
    mine.push_back(s.create());
  }
  const std::vector<event> set(mine.begin(), mine.end());
  const event some = s.merge({theirs, mine[0]});
  const event whole = s.merge(set);
  const event again = s.merge(set);
  const event calm = s.settled(set);
  const event walk = follow(s, some, whole).done();
  s.name(whole, "the whole");
  completion_queue queue(s);
  queue.add(whole, 1);
  barrier b = shared.phases;
  for (std::uint64_t phase = 0; phase < 3; ++phase, b = b.next()) {
    const event done = s.all_barriers().completed(b);
    s.all_barriers().arrive(b, 1, &phase, phase == 1 ? whole : event{});
    if (phase == 0) {
      for (const user_event e : mine) {
        s.trigger(e);
      }
      if (m.rank == 1) {
        s.trigger(user_event(theirs));
      }
    }
    good(s, done);
  }
  good(s, s.merge({some, whole, again, calm, walk}));
  const user_event bad = s.create();
  const event fails = s.merge({bad, theirs});
  s.poison(bad);
  (void)s.wait(fails);
  (void)s.report();
  std::array<completed, 1> ended;
  m.until([&] { return queue.pop(ended) == 1; });
  m.meet();
}

void reservations_and_tasks(const event_member& m, board& shared) {
  system& s = m.events;
  reservations locks(s);
  tasks all(s);
  all.add<&nothing>("nothing");
  all.add<&nothing_much>("nothing much");
  m.meet();
  all.start();
  if (m.rank == 0) {
    shared.lock_bits = locks.create().bits();
  }
  m.meet();
  const auto lock = reservation::from_bits(shared.lock_bits.load());
  for (int i = 0; i < 3; ++i) {
    const event got = locks.acquire(lock);
    const event first = all.spawn<&nothing>(all.at(m.next()), {.after = got}, i);
    const event second = all.spawn<&nothing_much>(
        all.at(job_rank{m.rank}), {.after = first, .priority = i, .stack_bytes = 100'000},
        std::array<char, 200>{});
    locks.release(lock, second);
    good(s, second);
  }
  m.settle();
  m.until([&] { return all.pending() == 0; });
  m.settle();
}

int job_with_a_failure(int victim, long n) {
  const fiber::scheduler workers({.workers = 1, .pin = false});
  bool failed = false;
  board shared;
  completion done;
  std::thread others([&] {  // the caller is a worker, and must not block
    test::run_events(2, backend::inproc, core::threading::many, [&](event_member& m) {
      try {
        if (m.rank == victim) {
          fail_allocation(n);
        }
        events_and_barriers(m, shared);
        reservations_and_tasks(m, shared);
        if (m.rank == victim) {
          failed = allocation_has_failed();
          fail_allocation(0);
        }
      } catch (const std::exception& e) {
        test::end_with(e.what());
      }
    });
    done.complete();
  });
  fiber::wait(done);
  others.join();
  return failed ? test::in_order : test::without_failure;
}

TEST(event_allocations, each_may_fail) {
  for (const int victim : {0, 1}) {
    test::with_each_allocation_failing([victim](long n) { return job_with_a_failure(victim, n); });
  }
}

}  // namespace
}  // namespace sinew::event
