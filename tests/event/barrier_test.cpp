// SPDX-License-Identifier: BSD-3-Clause
// Barriers, completion queues, coroutines, reports, messages for nobody.
#include "sinew/event/barrier.hpp"

#include <array>
#include <numeric>

#include "event_fixture.hpp"
#include "shuffled_fabric.hpp"
#include "sinew/base/error.hpp"
#include "sinew/event/completion_queue.hpp"
#include "sinew/event/coroutine.hpp"
#include "sinew/event/reservation.hpp"

namespace sinew::event {
namespace {

class event_barrier_test : public event_test {};

void add_up(void* into, const void* value) {
  *static_cast<std::uint64_t*>(into) += *static_cast<const std::uint64_t*>(value);
}
constexpr std::uint64_t zero = 0;

TEST_P(event_barrier_test, phases_complete_with_their_value) {
  for (const int ranks : {1, 2, 7, 16}) {
    run(ranks, [](event_member& m) {
      static barrier shared;
      barriers& all = m.events.all_barriers();
      if (m.rank == 0) {
        shared = all.create(static_cast<std::uint64_t>(m.size), {sizeof zero, add_up, &zero});
      }
      m.meet();
      barrier b = shared;
      for (std::uint64_t phase = 0; phase < 40; ++phase, b = b.next()) {
        const event done = all.completed(b);
        const std::uint64_t mine = phase * 100 + static_cast<std::uint64_t>(m.rank);
        EXPECT_FALSE(m.size > 1 && m.rank == 0 && m.events.has_triggered(done));
        all.arrive(b, 1, &mine);
        EXPECT_EQ(m.events.wait(done), state::triggered);
        const auto n = static_cast<std::uint64_t>(m.size);
        std::uint64_t sum = 0;
        EXPECT_TRUE(all.value(b, &sum));
        EXPECT_EQ(sum, phase * 100 * n + n * (n - 1) / 2);
        EXPECT_FALSE(all.completed(b).exists()) << "known here by now";
      }
      std::uint64_t none = 0;
      EXPECT_FALSE(all.value(shared, &none)) << "the first phases are forgotten";
      m.settle();
      if (m.rank == 0) {
        all.destroy(shared);
      }
    });
  }
}

TEST_P(event_barrier_test, values_are_there_for_who_has_not_asked) {
  run(3, [](event_member& m) {
    static barrier shared;
    static event ended;
    barriers& all = m.events.all_barriers();
    if (m.rank == 0) {
      shared = all.create(1, {sizeof zero, add_up, &zero});
    }
    m.meet();
    if (m.rank == 1) {
      ended = all.completed(shared);
      const std::uint64_t seven = 7;
      all.arrive(shared, 1, &seven);
    }
    m.meet();
    std::uint64_t sum = 0;
    EXPECT_EQ(m.events.wait(ended), state::triggered);  // rank 1's event, also on ranks 0 and 2
    EXPECT_TRUE(all.value(shared, &sum));
    EXPECT_EQ(sum, 7u);
    EXPECT_FALSE(all.value(shared.next(), &sum)) << "a phase that has not ended";
    EXPECT_EQ(m.events.pending(), 0u);
    m.meet();
  });
}

TEST_P(event_barrier_test, a_poisoned_phase_stays_so_for_who_has_seen_its_value) {
  run(2, [](event_member& m) {
    static barrier shared;
    barriers& all = m.events.all_barriers();
    if (m.rank == 0) {
      shared = all.create(1, {sizeof zero, add_up, &zero});
    }
    m.meet();
    if (m.rank == 1) {
      const user_event bad = m.events.create();
      m.events.poison(bad);
      const std::uint64_t seven = 7;
      all.arrive(shared, 1, &seven, bad);
      std::uint64_t sum = 0;
      EXPECT_TRUE(all.value(shared, &sum));
      EXPECT_EQ(sum, 7u);
      EXPECT_EQ(m.events.wait(all.completed(shared)), state::poisoned);
    }
    m.meet();
    if (m.rank == 0) {
      all.destroy(shared);
    }
    m.meet();
    if (m.rank == 1) {
      std::uint64_t none = 0;
      EXPECT_EQ(m.events.wait(all.completed(shared.next())), state::poisoned);
      EXPECT_FALSE(all.value(shared.next(), &none)) << "it has ended without a value";
    }
    m.meet();
  });
}

TEST_P(event_barrier_test, values_of_many_phases_that_end_at_once) {
  run(2, [](event_member& m) {
    constexpr std::uint64_t phases = 3 * kept_phases;
    static barrier shared;
    barriers& all = m.events.all_barriers();
    if (m.rank == 0) {
      shared = all.create(1, {sizeof zero, add_up, &zero});
    }
    m.meet();
    struct look {
      barriers* all;
      barrier of;
      std::uint64_t sum = 0;
    };
    std::vector<look> seen;
    for (std::uint64_t phase = 0; phase < phases; ++phase) {
      seen.push_back({&all, {shared.id, phase, shared.stamp}});
    }
    std::vector<event> ends;
    for (look& l : seen) {
      ends.push_back(all.completed(l.of));
      m.events.on(
          ends.back(),
          [](void* argument, bool) noexcept {
            auto& of = *static_cast<look*>(argument);
            EXPECT_TRUE(of.all->value(of.of, &of.sum)) << "phase " << of.of.phase;
          },
          &l);
    }
    m.meet();
    m.settle();
    if (m.rank == 1) {  // the first one last
      for (std::uint64_t phase = phases; phase-- > 0;) {
        const std::uint64_t value = phase + 100;
        all.arrive(seen[phase].of, 1, &value);
      }
    }
    EXPECT_EQ(m.events.wait(m.events.merge(ends)), state::triggered);
    for (const look& l : seen) {
      EXPECT_EQ(l.sum, l.of.phase + 100);
    }
    m.settle();
  });
}

TEST_P(event_barrier_test, arrivals_ahead_deferred_and_poisoned) {
  run(2, [](event_member& m) {
    static barrier shared;
    barriers& all = m.events.all_barriers();
    if (m.rank == 0) {
      shared = all.create(2);
    }
    m.meet();
    const barrier first = shared;
    const barrier second = first.next();
    const barrier third = second.next();
    if (m.rank == 1) {
      all.arrive(third, 2);
      all.arrive(second, 1);
      const user_event later = m.events.create();
      all.arrive(first, 1, nullptr, later);
      const user_event bad = m.events.create();
      all.arrive(second, 1, nullptr, bad);
      m.settle();
      EXPECT_FALSE(m.events.has_triggered(all.completed(first)));
      m.events.trigger(later);
      m.events.poison(bad);
    } else {
      m.settle();
      EXPECT_FALSE(m.events.has_triggered(all.completed(third)));
      all.arrive(first);
    }
    EXPECT_EQ(m.events.wait(all.completed(first)), state::triggered);
    EXPECT_EQ(m.events.wait(all.completed(second)), state::poisoned);
    EXPECT_EQ(m.events.wait(all.completed(third)), state::triggered);
    EXPECT_EQ(m.events.wait(all.completed(second)), state::poisoned) << "and stays so";
    m.meet();
  });
}

// Rank 1 takes one more arrival upon itself and hands it to rank 2, whose arrival may overtake the
// alteration: messages come in any order.
TEST(event_barrier, altered_counts_in_any_order_of_messages) {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    test::shuffled_job job(4, seed);
    auto& systems = job.systems;
    const barrier b = systems[0]->all_barriers().create(1);
    const event done = systems[3]->all_barriers().completed(b);
    const barrier more = systems[1]->all_barriers().alter(b, +1);
    const barrier still_more = systems[2]->all_barriers().alter(more, +1);
    systems[3]->all_barriers().arrive(still_more);
    systems[2]->all_barriers().arrive(still_more);
    for (int i = 0; i < 10; ++i) {
      job.runtimes[job.net.random.below(4)]->poll();
    }
    job.settle();
    ASSERT_FALSE(systems[3]->has_triggered(done)) << "seed " << seed;
    systems[1]->all_barriers().arrive(more);
    job.settle();
    ASSERT_TRUE(systems[3]->has_triggered(done)) << "seed " << seed;
    // The count stays altered: three for the next phase, and one fewer by decree.
    const event next = systems[3]->all_barriers().completed(b.next());
    systems[0]->all_barriers().arrive(b.next(), 2);
    job.settle();
    ASSERT_FALSE(systems[3]->has_triggered(next));
    (void)systems[0]->all_barriers().alter(b.next(), -1);
    job.settle();
    ASSERT_TRUE(systems[3]->has_triggered(next));
  }
}

TEST_P(event_barrier_test, barriers_at_the_edges) {
  run(3, [](event_member& m) {
    barriers& all = m.events.all_barriers();
    EXPECT_THROW((void)all.create(0), error);
    EXPECT_THROW((void)all.create(1, {65, add_up, &zero}), error);
    EXPECT_THROW((void)all.create(1, {8, nullptr, &zero}), error);
    EXPECT_THROW(all.destroy({}), error);
    static barrier shared;
    if (m.rank == 2) {
      shared = all.create(1);
    }
    m.meet();
    if (m.rank == 0) {
      const event awaited = all.completed(shared);
      m.events.lost(2);
      EXPECT_EQ(m.events.wait(awaited), state::poisoned);
      EXPECT_EQ(m.events.wait(all.completed(shared.next())), state::poisoned);
    }
    m.meet();
  });
}

// A handle that stands for no barrier is refused where that is known, and else by the owner.
TEST_P(event_barrier_test, destroyed_and_invented_barriers_are_refused) {
  run(2, [](event_member& m) {
    barriers& all = m.events.all_barriers();
    static barrier gone;
    static barrier short_lived;
    if (m.rank == 0) {
      gone = all.create(1);
      short_lived = all.create(1);
      all.destroy(gone);
    }
    m.meet();
    const barrier invented{std::uint64_t{77}, 0, 0};
    const barrier of_nobody{std::uint64_t{9} << 48 | 1, 0, 0};
    const barrier too_wide{std::uint64_t{200} << 40 | 1, 0, 0};
    std::uint64_t some[32] = {};
    for (const barrier& b : {of_nobody, too_wide, barrier{}}) {
      EXPECT_THROW((void)all.completed(b), error);
      EXPECT_THROW(all.arrive(b, 1, some), error);
      EXPECT_THROW((void)all.alter(b, 1), error);
    }
    EXPECT_THROW((void)all.value(of_nobody, some), error);
    EXPECT_THROW((void)all.value(too_wide, some), error);
    if (m.rank == 0) {
      for (const barrier& b : {gone, invented}) {
        EXPECT_THROW((void)all.completed(b), error);
        EXPECT_THROW(all.arrive(b), error);
        EXPECT_THROW((void)all.alter(b, 1), error);
      }
    } else {
      for (const barrier& b : {gone, invented}) {
        EXPECT_EQ(m.events.wait(all.completed(b)), state::poisoned);
        all.arrive(b);  // the owner says that it is ignored
        EXPECT_EQ(m.events.wait(all.completed(b.next())), state::poisoned);
      }
    }
    // Destroyed while somebody waits for a phase.
    const event awaited = all.completed(short_lived);
    m.settle();
    EXPECT_EQ(m.events.look(awaited), state::pending);
    m.meet();
    if (m.rank == 0) {
      all.destroy(short_lived);
    }
    EXPECT_EQ(m.events.wait(awaited), state::poisoned);
    m.meet();
  });
}

// What another rank sends by mistake is answered or ignored; it never ends the rank that gets it.
TEST_P(event_barrier_test, invented_events_are_refused_by_their_owner) {
  run(2, [](event_member& m) {
    m.meet();
    if (m.rank == 1) {
      const event never(0, 1000, 7);
      EXPECT_EQ(m.events.wait(never), state::poisoned);
      m.events.trigger(user_event(event(0, 1001, 3)));
      (void)m.events.cancel(event(0, 1002, 3));
      EXPECT_THROW((void)m.events.wait(event(1, 1000, 7)), error);
    }
    m.settle();
    const user_event sound = m.events.create();
    m.events.trigger(sound);
    EXPECT_EQ(m.events.wait(sound), state::triggered);
    m.meet();
  });
}

TEST_P(event_barrier_test, a_completion_queue_gives_what_has_triggered) {
  run(1, [](event_member& m) {
    completion_queue queue(m.events);
    std::vector<user_event> events;
    for (std::uint64_t i = 0; i < 100; ++i) {
      events.push_back(m.events.create());
      queue.add(events.back(), i);
    }
    std::array<completed, 8> got;
    EXPECT_EQ(queue.pop(got), 0u);
    const event filled = queue.filled();
    EXPECT_EQ(queue.filled(), filled);
    EXPECT_FALSE(m.events.has_triggered(filled));
    for (std::size_t i = 0; i < 100; ++i) {
      const std::size_t which = i * 37 % 100;
      i == 5 ? m.events.poison(events[which]) : m.events.trigger(events[which]);
    }
    EXPECT_TRUE(m.events.has_triggered(filled));
    EXPECT_FALSE(queue.filled().exists());
    for (std::size_t i = 0; i < 100;) {
      const std::size_t n = queue.pop(got);
      ASSERT_GT(n, 0u);
      for (std::size_t k = 0; k < n; ++k, ++i) {
        EXPECT_EQ(got[k].tag, i * 37 % 100);
        EXPECT_EQ(got[k].what, events[i * 37 % 100]);
        EXPECT_EQ(got[k].poisoned, i == 5);
      }
    }
    EXPECT_EQ(queue.size(), 0u);
    queue.add({}, 9);
    ASSERT_EQ(queue.pop(got), 1u);
    EXPECT_EQ(got[0].tag, 9u);
  });
}

activity follow(system& s, event first, event second, std::vector<state>& seen) {
  seen.push_back(co_await until(s, first));
  seen.push_back(co_await until(s, second));
  co_return seen.back() == state::triggered;
}

TEST_P(event_barrier_test, coroutines_await_events) {
  run(1, [](event_member& m) {
    for (const bool bad : {false, true}) {
      const user_event a = m.events.create();
      const user_event b = m.events.create();
      std::vector<state> seen;
      const event done = follow(m.events, a, b, seen).done();
      EXPECT_TRUE(seen.empty());
      m.events.trigger(a);
      EXPECT_EQ(seen.size(), 1u);
      EXPECT_FALSE(m.events.has_triggered(done));
      bad ? m.events.poison(b) : m.events.trigger(b);
      EXPECT_EQ(m.events.look(done), bad ? state::poisoned : state::triggered);
      EXPECT_EQ(seen.size(), 2u);
    }
    std::vector<state> at_once;
    EXPECT_TRUE(m.events.has_triggered(follow(m.events, {}, {}, at_once).done()));
  });
}

activity long_way(system& s, const std::vector<event>& steps, int& taken) {
  for (const event e : steps) {
    (void)co_await until(s, e);
    ++taken;
  }
  co_return true;
}

TEST_P(event_barrier_test, a_coroutine_that_awaits_much_takes_no_stack) {
  run(1, [](event_member& m) {
    std::vector<event> steps;
    const user_event start = m.events.create();
    event last = start;
    for (int i = 0; i < 20'000; ++i) {
      const user_event next = m.events.create();
      m.events.trigger(next, last);
      steps.push_back(last = next);
    }
    int taken = 0;
    const event done = long_way(m.events, steps, taken).done();
    m.events.trigger(start);
    EXPECT_TRUE(m.events.has_triggered(done));
    EXPECT_EQ(taken, 20'000);
  });
}

TEST_P(event_barrier_test, awaiting_an_event_that_is_pending_allocates_nothing) {
  run(1, [](event_member& m) {
    std::vector<user_event> steps;
    for (int i = 0; i < 100; ++i) {
      steps.push_back(m.events.create());
    }
    const std::vector<event> same(steps.begin(), steps.end());
    int taken = 0;
    const event done = long_way(m.events, same, taken).done();  // its frame is made here
    EXPECT_EQ(taken, 0);
    const long before = allocations_here();
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      m.events.trigger(steps[i]);  // it goes on, and awaits the next
      EXPECT_EQ(taken, static_cast<int>(i) + 1);
    }
    EXPECT_EQ(allocations_here(), before);
    m.events.trigger(steps.back());
    EXPECT_TRUE(m.events.has_triggered(done));
  });
}

TEST_P(event_barrier_test, a_report_says_what_never_triggers_and_who_waits) {
  run(2, [](event_member& m) {
    static std::atomic<std::uint64_t> bits;
    const user_event mine = m.events.create();
    m.events.name(mine, m.rank == 0 ? "wheat" : "flour");
    if (m.rank == 0) {
      bits.store(mine.bits());
    }
    m.meet();
    const user_event other = m.events.create();
    const event bread = m.events.merge({mine, other, event::from_bits(bits.load())});
    m.events.name(bread, "bread");
    struct idle : waiter {
    } w;
    w.fire = [](waiter&) noexcept {};
    EXPECT_EQ(m.events.subscribe(bread, w), state::pending);
    m.settle();
    const std::string text = m.events.report();
    EXPECT_NE(text.find("\"bread\": waits for 3"), std::string::npos) << text;
    EXPECT_NE(text.find("nobody has triggered it"), std::string::npos) << text;
    if (m.rank == 1) {
      EXPECT_NE(text.find("\"flour\""), std::string::npos) << text;
      EXPECT_NE(text.find("of rank 0"), std::string::npos) << text;
    } else {
      EXPECT_NE(text.find("\"wheat\""), std::string::npos) << text;
    }
    m.meet();
    m.events.trigger(mine);
    m.events.trigger(other);
    EXPECT_EQ(m.events.wait(bread), state::triggered);
    m.meet();
  });
}

// Reservations and tasks must be there on all ranks before one sends.
TEST(event_messages, that_come_too_early_end_the_job_with_a_sentence) {
  test::shuffled_job job(2, 1);
  const reservations locks(*job.systems[0]);
  job.systems[0]->send(1, topic::reservation, 0, 0);
  EXPECT_DEATH(job.settle(),
               "rank 0 has sent a message for reservations, which rank 1 has not made .*before one "
               "of them sends");
}

TEST(event_messages, to_what_this_rank_has_not_made_are_an_error) {
  test::shuffled_job job(2, 1);
  try {
    job.systems[1]->send(1, topic::task, 0, 0);
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("tasks, which rank 1 has not made"), std::string::npos)
        << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(ways, event_barrier_test, every_way, name_of_way);

}  // namespace
}  // namespace sinew::event
