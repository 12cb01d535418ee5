// SPDX-License-Identifier: BSD-3-Clause
// Promises of event/system.hpp, on every back-end.
#include <deque>
#include <set>
#include <thread>

#include "event_fixture.hpp"
#include "sinew/base/error.hpp"
#include "sinew/event/system.hpp"
#include "support/allocations.hpp"

namespace sinew::event {

long allocations_here() { return test::allocations; }
void fail_allocation(long n) { test::fails_at = n; }
bool allocation_has_failed() { return test::fails_at == 0; }

namespace {

TEST_P(event_test, a_user_event_triggers_once_and_for_all) {
  run(1, [](event_member& m) {
    const user_event e = m.events.create();
    EXPECT_FALSE(m.events.has_triggered(e));
    EXPECT_EQ(m.events.look(e), state::pending);
    m.events.trigger(e);
    EXPECT_EQ(m.events.look(e), state::triggered);
    EXPECT_EQ(m.events.wait(e), state::triggered);
    EXPECT_THROW(m.events.trigger(e), error);
    EXPECT_THROW(m.events.trigger(user_event{}), error);
    EXPECT_EQ(m.events.look({}), state::triggered);
    EXPECT_EQ(m.events.wait({}), state::triggered);
    EXPECT_EQ(m.events.pending(), 0u);
  });
}

TEST_P(event_test, a_forged_handle_is_an_error) {
  run(1, [](event_member& m) {
    const user_event e = m.events.create();
    EXPECT_THROW((void)m.events.look(event(0, e.index(), e.generation() + 1)), error);
    EXPECT_THROW((void)m.events.look(event(0, e.index() + 1, 1)), error);
    EXPECT_THROW((void)m.events.look(event(1, 1, 1)), error);
    m.events.trigger(e);
  });
}

TEST_P(event_test, storage_is_used_again) {
  run(1, [](event_member& m) {
    std::vector<event> all;
    for (int i = 0; i < 1000; ++i) {
      const user_event e = m.events.create();
      const user_event f = m.events.create();
      const event merged = m.events.merge(e, f);
      all.insert(all.end(), {e, f, merged});
      m.events.trigger(e);
      EXPECT_FALSE(m.events.has_triggered(merged));
      m.events.trigger(f);
    }
    EXPECT_EQ(m.events.slots(), 3u);
    EXPECT_EQ(m.events.pending(), 0u);
    for (const event e : all) {
      EXPECT_EQ(m.events.look(e), state::triggered);
    }
  });
}

TEST_P(event_test, generations_run_out_and_old_handles_stay_true) {
  run(2,
      [](event_member& m) {
        std::vector<event> clean;
        std::vector<event> bad;
        for (int i = 0; i < 100; ++i) {
          const user_event e = m.events.create();
          if (i % 7 == 3) {
            m.events.poison(e);
            bad.push_back(e);
          } else {
            m.events.trigger(e);
            clean.push_back(e);
          }
        }
        EXPECT_GE(m.events.slots(), 100u / 5);
        for (const event e : clean) {
          EXPECT_EQ(m.events.look(e), state::triggered);
        }
        for (const event e : bad) {
          EXPECT_EQ(m.events.look(e), state::poisoned);
        }
        EXPECT_EQ(std::set<event>(clean.begin(), clean.end()).size(), clean.size());
      },
      {1u << 10, 5});
}

TEST_P(event_test, too_many_pending_events_are_an_error_and_nothing_breaks) {
  run(1,
      [](event_member& m) {
        std::vector<user_event> all;
        EXPECT_THROW(for (;;) { all.push_back(m.events.create()); }, error);
        EXPECT_GT(all.size(), 20u);
        for (const user_event e : all) {
          m.events.trigger(e);
        }
        m.events.trigger(m.events.create());
        EXPECT_EQ(m.events.pending(), 0u);
      },
      {32, event::last_generation});
}

TEST_P(event_test, merges_of_nothing_one_and_many) {
  run(1, [](event_member& m) {
    EXPECT_FALSE(m.events.merge({}).exists());
    const user_event a = m.events.create();
    const user_event b = m.events.create();
    EXPECT_EQ(m.events.merge({a}), a);
    EXPECT_EQ(m.events.merge({event{}, a, event{}}), a);
    const event both = m.events.merge({a, b, a});
    m.events.trigger(a);
    EXPECT_FALSE(m.events.has_triggered(both));
    EXPECT_EQ(m.events.merge(a, b), b);
    m.events.trigger(b);
    EXPECT_EQ(m.events.look(both), state::triggered);
    EXPECT_FALSE(m.events.merge(a, b).exists());
  });
}

TEST_P(event_test, poison_spreads_at_once_and_stops_at_settled) {
  run(1, [](event_member& m) {
    const user_event a = m.events.create();
    const user_event b = m.events.create();
    const event both = m.events.merge(a, b);
    const event calm = m.events.settled(std::array<event, 2>{a, b});
    const event calm_one = m.events.settled(a);
    const user_event after = m.events.create();
    m.events.trigger(after, both);
    EXPECT_THROW(m.events.trigger(after), error);
    m.events.poison(a);
    EXPECT_EQ(m.events.look(both), state::poisoned);
    EXPECT_EQ(m.events.look(after), state::poisoned);
    EXPECT_EQ(m.events.look(calm_one), state::triggered);
    EXPECT_EQ(m.events.look(calm), state::pending);
    EXPECT_EQ(m.events.merge(a, b), a) << "what failed already stands for the merge";
    m.events.trigger(b);
    EXPECT_EQ(m.events.look(both), state::poisoned);
    EXPECT_EQ(m.events.look(calm), state::triggered);
    EXPECT_EQ(m.events.wait(after), state::poisoned);
    EXPECT_EQ(m.events.pending(), 0u);
  });
}

TEST_P(event_test, cancel_poisons_whatever_is_pending) {
  run(1, [](event_member& m) {
    const user_event a = m.events.create();
    const user_event b = m.events.create();
    const event both = m.events.merge(a, b);
    EXPECT_TRUE(m.events.cancel(both));
    EXPECT_FALSE(m.events.cancel(both));
    EXPECT_EQ(m.events.look(both), state::poisoned);
    EXPECT_TRUE(m.events.cancel(a));
    m.events.trigger(a);  // ignored: it was cancelled
    EXPECT_EQ(m.events.look(a), state::poisoned);
    m.events.trigger(b);
    EXPECT_EQ(m.events.pending(), 0u);
  });
}

TEST_P(event_test, after_a_cancel_one_trigger_is_forgiven) {
  run(2, [](event_member& m) {
    std::array<user_event, 3> mine;
    for (user_event& e : mine) {
      e = m.events.create();
      EXPECT_TRUE(m.events.cancel(e));
    }
    m.events.trigger(mine[1]);
    EXPECT_THROW(m.events.trigger(mine[1]), error);
    EXPECT_THROW(m.events.poison(mine[1]), error);
    m.events.poison(mine[0]);
    EXPECT_THROW(m.events.trigger(mine[0]), error);
    m.events.trigger(mine[2]);
    EXPECT_THROW(m.events.trigger(mine[2]), error);

    const user_event bad = m.events.create();
    m.events.poison(bad);
    EXPECT_THROW(m.events.trigger(bad), error) << "it was the program that poisoned it";
    const user_event given = m.events.create();
    const user_event before = m.events.create();
    m.events.trigger(given, before);
    EXPECT_TRUE(m.events.cancel(given));
    EXPECT_THROW(m.events.trigger(given), error) << "it had its trigger before the cancel";
    m.events.trigger(before);
    EXPECT_EQ(m.events.pending(), 0u);
  });
}

TEST_P(event_test, a_cancel_loop_does_not_grow) {
  run(1, [](event_member& m) {
    for (int i = 0; i < 10'000; ++i) {
      const user_event e = m.events.create();
      EXPECT_TRUE(m.events.cancel(e));
    }
    EXPECT_EQ(m.events.slots(), 1u);
  });
}

struct counting : waiter {
  counting() {
    fire = [](waiter& w) noexcept { ++static_cast<counting&>(w).fired; };
  }
  int fired = 0;
};

TEST_P(event_test, waiters_are_fired_in_the_order_in_which_they_came) {
  run(1, [](event_member& m) {
    static std::vector<int> order;
    order.clear();
    struct one : waiter {
      int number = 0;
    };
    std::deque<one> all(10);
    const user_event e = m.events.create();
    for (int i = 0; i < 10; ++i) {
      all[static_cast<std::size_t>(i)].number = i;
      all[static_cast<std::size_t>(i)].fire = [](waiter& w) noexcept {
        order.push_back(static_cast<one&>(w).number);
      };
      EXPECT_EQ(m.events.subscribe(e, all[static_cast<std::size_t>(i)]), state::pending);
    }
    EXPECT_TRUE(m.events.unsubscribe(e, all[0]));
    EXPECT_TRUE(m.events.unsubscribe(e, all[9]));
    EXPECT_TRUE(m.events.unsubscribe(e, all[4]));
    EXPECT_FALSE(m.events.unsubscribe(e, all[4]));
    m.events.trigger(e);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 5, 6, 7, 8}));
    EXPECT_FALSE(m.events.unsubscribe(e, all[1]));
    counting late;
    EXPECT_EQ(m.events.subscribe(e, late), state::triggered);
    EXPECT_EQ(late.fired, 0);
    const user_event alone = m.events.create();
    EXPECT_EQ(m.events.subscribe(alone, late), state::pending);
    EXPECT_TRUE(m.events.unsubscribe(alone, late));
    m.events.trigger(alone);
    EXPECT_EQ(late.fired, 0);
  });
}

TEST_P(event_test, callbacks_may_use_the_system_and_must_not_wait) {
  run(1, [](event_member& m) {
    struct context {
      event_member& m;
      int calls = 0;
      user_event next = {};
    } c{m};
    const user_event e = m.events.create();
    c.next = m.events.create();
    m.events.on(
        e,
        [](void* argument, bool poisoned) noexcept {
          auto& here = *static_cast<context*>(argument);
          EXPECT_FALSE(poisoned);
          const user_event pending = here.m.events.create();
          EXPECT_THROW(here.m.events.wait(pending), error);
          here.m.events.poison(pending);
          here.m.events.poison(here.next);
          ++here.calls;
        },
        &c);
    m.events.trigger(e);
    EXPECT_EQ(c.calls, 1);
    EXPECT_EQ(m.events.look(c.next), state::poisoned);
    m.events.on(
        c.next,
        [](void* argument, bool poisoned) noexcept {
          EXPECT_TRUE(poisoned);
          ++static_cast<context*>(argument)->calls;
        },
        &c);
    EXPECT_EQ(c.calls, 2);
  });
}

TEST_P(event_test, waiting_for_events_of_another_rank) {
  for (const int ranks : {2, 5, 16}) {
    run(ranks, [](event_member& m) {
      static std::atomic<std::uint64_t> bits;
      for (int round = 0; round < 20; ++round) {
        const int owner = round % m.size;
        if (m.rank == owner) {
          bits.store(m.events.create().bits());
        }
        m.meet();
        const user_event e{event::from_bits(bits.load())};
        const bool bad = round % 3 == 0;
        if (m.rank == (owner + round / 4) % m.size) {
          bad ? m.events.poison(e) : m.events.trigger(e);
        }
        EXPECT_EQ(m.events.wait(e), bad ? state::poisoned : state::triggered);
        EXPECT_EQ(m.events.look(e), bad ? state::poisoned : state::triggered);
        m.settle();
        EXPECT_EQ(m.events.pending(), 0u);
      }
    });
  }
}

TEST_P(event_test, each_rank_asks_and_is_told_once) {
  run(2, [](event_member& m) {
    static std::atomic<std::uint64_t> bits;
    static counting all[100];
    if (m.rank == 0) {
      bits.store(m.events.create().bits());
    }
    m.meet();
    const user_event e{event::from_bits(bits.load())};
    if (m.rank == 1) {
      for (counting& w : all) {
        w.fired = 0;
        EXPECT_EQ(m.events.subscribe(e, w), state::pending);
      }
      EXPECT_EQ(m.events.pending(), 1u) << "all hang on one alias";
    }
    m.settle();
    if (m.rank == 0) {
      m.events.trigger(e);
    }
    m.settle();
    if (m.rank == 1) {
      for (counting& w : all) {
        EXPECT_EQ(w.fired, 1);
      }
    }
  });
}

TEST_P(event_test, merges_and_triggers_across_ranks) {
  run(3, [](event_member& m) {
    static std::atomic<std::uint64_t> bits[3];
    for (int round = 0; round < 10; ++round) {
      const user_event mine = m.events.create();
      bits[m.rank].store(mine.bits());
      m.meet();
      std::vector<event> all;
      for (auto& b : bits) {
        all.push_back(event::from_bits(b.load()));
      }
      const event merged = m.events.merge(all);
      EXPECT_FALSE(m.events.has_triggered(merged));
      m.meet();
      // Rank 0 starts, each triggers the next one's when its own has triggered.
      if (m.rank == 0) {
        m.events.trigger(user_event(all[1]), all[0]);
        m.events.trigger(mine);
      } else if (m.rank == 1) {
        m.events.trigger(user_event(all[2]), mine);
      }
      EXPECT_EQ(m.events.wait(merged), state::triggered);
      m.meet();
    }
  });
}

TEST_P(event_test, a_second_trigger_from_afar_is_ignored) {
  run(2, [](event_member& m) {
    static std::atomic<std::uint64_t> bits;
    if (m.rank == 0) {
      bits.store(m.events.create().bits());
    }
    m.meet();
    const user_event e{event::from_bits(bits.load())};
    if (m.rank == 0) {
      m.events.trigger(e);
    }
    m.meet();
    if (m.rank == 1) {
      m.events.trigger(e);
    }
    m.settle();
    EXPECT_EQ(m.events.wait(e), state::triggered);
    m.meet();
  });
}

TEST_P(event_test, events_of_a_lost_rank_are_poisoned) {
  run(3, [](event_member& m) {
    static std::atomic<std::uint64_t> bits[2];
    if (m.rank == 2) {
      bits[0].store(m.events.create().bits());
      bits[1].store(m.events.create().bits());
    }
    m.meet();
    if (m.rank != 2) {
      const event first = event::from_bits(bits[0].load());
      const event second = event::from_bits(bits[1].load());
      const user_event own = m.events.create();
      const event merged = m.events.merge(own, first);
      const event calm = m.events.settled(first);
      EXPECT_FALSE(m.events.has_triggered(merged));
      m.meet();  // whoever gives up a rank tells the others
      m.events.lost(2);
      EXPECT_TRUE(m.events.is_lost(2));
      EXPECT_EQ(m.events.wait(merged), state::poisoned);
      EXPECT_EQ(m.events.wait(calm), state::triggered);
      EXPECT_EQ(m.events.wait(second), state::poisoned);
      m.events.trigger(user_event(second));  // nobody is there to hear
      m.events.trigger(own);
    } else {
      m.meet();
    }
    m.meet();
  });
}

TEST_P(event_test, long_chains_and_wide_merges_take_no_stack) {
  if (slow_build) {
    GTEST_SKIP() << "10 million events";
  }
  run(1,
      [](event_member& m) {
        constexpr int length = 10'000'000;
        const user_event start = m.events.create();
        event last = start;
        for (int i = 0; i < length; ++i) {
          const user_event next = m.events.create();
          m.events.trigger(next, last);
          last = next;
        }
        std::vector<event> wide;
        std::vector<user_event> inputs;
        for (int i = 0; i < 100'000; ++i) {
          inputs.push_back(m.events.create());
          wide.push_back(inputs.back());
        }
        wide.push_back(last);
        const event merged = m.events.merge(wide);
        m.events.trigger(start);
        EXPECT_TRUE(m.events.has_triggered(last));
        for (const user_event e : inputs) {
          m.events.trigger(e);
        }
        EXPECT_TRUE(m.events.has_triggered(merged));
        EXPECT_EQ(m.events.pending(), 0u);
      },
      {});
}

TEST_P(event_test, triggering_allocates_nothing) {
  run(2, [](event_member& m) {
    static std::atomic<std::uint64_t> bits[2];
    // With a helper thread it is by chance in which round this thread sends for the first time.
    const bool helped = GetParam().progress == core::progress::helper;
    int allocating = 0;
    for (int round = 0; round < (helped ? 20 : 3); ++round) {
      bits[m.rank].store(m.events.create().bits());
      m.meet();
      const user_event mine{event::from_bits(bits[m.rank].load())};
      const event theirs = event::from_bits(bits[1 - m.rank].load());
      const long before = test::allocations;
      std::array<event, 40> level;
      level.fill({});
      level[0] = mine;
      level[1] = theirs;
      for (int depth = 0; depth < 5; ++depth) {
        std::array<event, 40> next;
        for (event& e : next) {
          const user_event fresh = m.events.create();
          m.events.trigger(fresh, m.events.merge(level));
          e = fresh;
        }
        level = next;
      }
      const event last = m.events.merge(level);
      m.events.trigger(mine);
      m.events.wait(last);
      // The first round makes pages of what is known, the fabric its packets.
      if (round > 1 && GetParam().over == backend::shm) {
        allocating += test::allocations != before ? 1 : 0;
      }
      m.settle();
    }
    EXPECT_LE(allocating, helped ? 3 : 0);
  });
}

TEST_P(event_test, a_merge_that_fails_says_why_and_leaves_nothing) {
  run(2, [](event_member& m) {
    static std::atomic<std::uint64_t> bits;
    if (m.rank == 1) {
      bits.store(m.events.create().bits());
    }
    m.meet();
    const event theirs = event::from_bits(bits.load());
    if (m.rank == 0) {
      const user_event a = m.events.create();
      const user_event b = m.events.create();
      for (const long nth : {1, 2}) {  // what is noted of a rank takes two allocations
        test::fails_at = nth;
        try {
          (void)m.events.merge({a, b, theirs});
          ADD_FAILURE() << "allocation " << nth << " has failed";
        } catch (const error& e) {
          EXPECT_NE(std::string(e.what()).find("no memory"), std::string::npos) << e.what();
        }
        test::fails_at = 0;
      }
      EXPECT_THROW((void)m.events.merge({a, b, event(0, a.index(), 1'000'000)}), error);
      EXPECT_EQ(m.events.pending(), 5u) << "three merges that nobody knows";

      const std::vector<event> wide(40, a);
      test::fails_at = 1;
      const event merged = m.events.merge(wide);  // it only cannot be shared
      test::fails_at = 0;
      m.events.trigger(a);
      EXPECT_TRUE(m.events.has_triggered(merged));
      m.events.trigger(b);
      EXPECT_EQ(m.events.pending(), 0u);
    }
    const event both = m.events.merge({theirs, m.events.settled(theirs)});
    m.settle();
    if (m.rank == 1) {
      m.events.trigger(user_event(theirs));
    }
    EXPECT_EQ(m.events.wait(both), state::triggered);
  });
}

TEST_P(event_test, threads_trigger_and_wait_at_once) {
  if (GetParam().threads == core::threading::one) {
    GTEST_SKIP() << "one thread a rank";
  }
  run(2, [](event_member& m) {
    static std::atomic<std::uint64_t> bits[2][64];
    for (auto& b : bits[m.rank]) {
      b.store(m.events.create().bits());
    }
    m.meet();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < 64; ++i) {
          const event mine = event::from_bits(bits[m.rank][i].load());
          const event theirs = event::from_bits(bits[1 - m.rank][i].load());
          const event both = m.events.merge(mine, theirs);
          if (i % 3 == static_cast<std::size_t>(t)) {
            m.events.trigger(user_event(mine));
          }
          EXPECT_EQ(m.events.wait(both), state::triggered);
        }
      });
    }
    for (auto& t : threads) {
      t.join();
    }
    m.settle();
    EXPECT_EQ(m.events.pending(), 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(ways, event_test, every_way, name_of_way);

}  // namespace
}  // namespace sinew::event
