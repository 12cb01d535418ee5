// SPDX-License-Identifier: BSD-3-Clause
// The graph alone: what goes in, and what waiters and notices come out. No network, no runtime.
#include "event/graph.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"

namespace sinew::event {
namespace {

constexpr int me = 3;

/// A graph, the aliases of other ranks' events, and what has come out so far.
struct world final : graph::resolver {
  explicit world(std::uint32_t most = 1u << 16, std::uint32_t last = event::last_generation)
      : lists(most), events(me, {most, last}, lists, any_poisoned) {}

  graph::place resolve(event e) override {
    ++asked;
    auto& alias = aliases[e];
    if (alias == 0) {
      alias = events.create_alias();
    }
    return {alias, state::pending};
  }
  event merge(const std::vector<event>& of) { return events.merge(of, *this); }
  event settled(const std::vector<event>& of) { return events.settled(of, *this); }
  void trigger(event e, bool poisoned = false) { events.trigger(events.find(e).slot, poisoned); }
  state look(event e) { return events.find(e).known; }

  /// To the end: fires waiters, gathers notices; returns how many passes it took.
  int run() {
    int passes = 0;
    while (events.has_queue() || events.has_ready()) {
      if (events.has_queue()) {
        events.pass();
        ++passes;
        for (const graph::notice& n : events.take_notices()) {
          notices.push_back(n);
        }
      } else if (waiter* const last = events.take_ready()) {
        waiter* w = last->next;
        for (bool end = false; !end;) {
          waiter* const next = w->next;
          end = w == last;
          w->fire(*w);
          w = next;
        }
      }
    }
    return passes;
  }

  number_lists lists;
  std::atomic<bool> any_poisoned{false};
  graph events;
  std::map<event, std::uint32_t> aliases;
  int asked = 0;
  std::vector<graph::notice> notices;
};

/// Notes in what order it and others were fired, and how.
struct noting : waiter {
  noting(std::vector<std::string>& to, std::string word) : log(to), name(std::move(word)) {
    fire = [](waiter& w) noexcept {
      auto& self = static_cast<noting&>(w);
      self.log.push_back(self.name + (self.poisoned ? " poisoned" : ""));
    };
  }
  std::vector<std::string>& log;
  std::string name;
};

TEST(graph, a_trigger_goes_in_and_waiters_come_out_in_order) {
  world w;
  std::vector<std::string> log;
  const event a = w.events.create();
  const event b = w.events.create();
  const event both = w.merge({a, b});
  noting first(log, "first");
  noting second(log, "second");
  noting third(log, "third");
  w.events.subscribe(w.events.find(both).slot, first);
  w.events.subscribe(w.events.find(both).slot, second);
  w.events.subscribe(w.events.find(b).slot, third);
  w.trigger(a);
  w.run();
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(w.look(both), state::pending);
  w.trigger(b);
  EXPECT_EQ(w.look(b), state::triggered);  // its dependents learn by pass()
  EXPECT_EQ(w.look(both), state::pending);
  w.run();
  EXPECT_EQ(log, (std::vector<std::string>{"third", "first", "second"}));
  EXPECT_EQ(w.look(both), state::triggered);
  EXPECT_EQ(w.events.pending(), 0u);
  EXPECT_TRUE(w.notices.empty());
  EXPECT_FALSE(w.any_poisoned.load());
}

TEST(graph, a_waiter_that_is_taken_back_is_not_fired) {
  world w;
  std::vector<std::string> log;
  std::vector<std::unique_ptr<noting>> all;
  const event e = w.events.create();
  const std::uint32_t slot = w.events.find(e).slot;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<noting>(log, std::to_string(i)));
    w.events.subscribe(slot, *all.back());
  }
  noting stranger(log, "stranger");
  EXPECT_FALSE(w.events.unsubscribe(slot, stranger));
  EXPECT_TRUE(w.events.unsubscribe(slot, *all[3]));  // the last
  EXPECT_TRUE(w.events.unsubscribe(slot, *all[0]));  // the first
  EXPECT_FALSE(w.events.unsubscribe(slot, *all[0]));
  w.trigger(e);
  w.run();
  EXPECT_EQ(log, (std::vector<std::string>{"1", "2"}));
  const event lone = w.events.create();
  w.events.subscribe(w.events.find(lone).slot, *all[0]);
  EXPECT_TRUE(w.events.unsubscribe(w.events.find(lone).slot, *all[0]));
  w.trigger(lone);
  w.run();
  EXPECT_EQ(log.size(), 2u);
}

TEST(graph, subscriptions_come_out_as_notices_with_the_run_that_the_event_ends) {
  world w;
  const event e = w.events.create();
  w.events.subscribers(w.events.find(e).slot) = 77;
  w.trigger(e);
  w.run();
  ASSERT_EQ(w.notices.size(), 1u);
  EXPECT_EQ(w.notices[0].what, e);
  EXPECT_EQ(w.notices[0].subscribers, 77u);
  EXPECT_EQ(w.notices[0].how.from, 1u);
  EXPECT_EQ(w.notices[0].how.to, e.generation());
  EXPECT_FALSE(w.notices[0].how.poisoned);

  const event bad = w.events.create();  // the slot's second generation
  ASSERT_EQ(bad.index(), e.index());
  w.events.subscribers(w.events.find(bad).slot) = 78;
  w.trigger(bad, true);
  w.run();
  ASSERT_EQ(w.notices.size(), 2u);
  EXPECT_EQ(w.notices[1].how.from, 2u);
  EXPECT_EQ(w.notices[1].how.to, 2u);
  EXPECT_TRUE(w.notices[1].how.poisoned);
  EXPECT_TRUE(w.any_poisoned.load());

  const event good = w.events.create();
  w.events.subscribers(w.events.find(good).slot) = 79;
  w.trigger(good);
  w.run();
  EXPECT_EQ(w.notices[2].how.from, 3u);  // generation 1 is clean too, but 2 lies between
  EXPECT_FALSE(w.notices[2].how.poisoned);

  EXPECT_EQ(w.events.settled_run(e).to, 1u);
  EXPECT_TRUE(w.events.settled_run(bad).poisoned);
  EXPECT_EQ(w.events.settled_run(good).from, 3u);
}

TEST(graph, other_ranks_events_are_aliases_that_the_caller_triggers) {
  world w;
  const event mine = w.events.create();
  const event theirs(me + 1, 5, 9);
  const event both = w.merge({theirs, mine});
  const event again = w.merge({mine, theirs});
  EXPECT_EQ(w.asked, 2);
  ASSERT_EQ(w.aliases.size(), 1u);
  EXPECT_EQ(w.merge({theirs}), theirs);  // one is left: itself, whoever owns it
  w.trigger(mine);
  w.run();
  EXPECT_EQ(w.look(both), state::pending);
  EXPECT_TRUE(w.events.describe(w.aliases[theirs]).alias);
  w.events.trigger(w.aliases[theirs], true);
  w.run();
  EXPECT_EQ(w.look(both), state::poisoned);
  EXPECT_EQ(w.look(again), state::poisoned);
  EXPECT_EQ(w.events.pending(), 0u);
  const std::uint32_t spare = w.events.create_alias();
  w.events.drop_alias(spare);
  EXPECT_EQ(w.events.pending(), 0u);
}

TEST(graph, poison_arrives_early_and_the_slot_is_kept_until_the_inputs_have_come) {
  world w;
  const event bad = w.events.create();
  const event late = w.events.create();
  const event both = w.merge({bad, late});
  const event calm = w.settled({bad, late});
  w.trigger(bad, true);
  w.run();
  EXPECT_EQ(w.look(both), state::poisoned);
  EXPECT_EQ(w.look(calm), state::pending);
  EXPECT_EQ(w.events.pending(), 3u);  // late, the merge's slot, calm
  w.trigger(late);
  w.run();
  EXPECT_EQ(w.look(calm), state::triggered);
  EXPECT_EQ(w.events.pending(), 0u);
}

TEST(graph, cancelling_poisons_whatever_it_is) {
  world w;
  const event user = w.events.create();
  const event input = w.events.create();
  const event given = w.events.create();
  w.events.trigger_after(w.events.find(given).slot, w.events.find(input).slot);
  EXPECT_FALSE(w.events.awaits_program(w.events.find(given).slot));
  w.events.cancel(w.events.find(user).slot);
  w.events.cancel(w.events.find(given).slot);
  w.run();
  EXPECT_EQ(w.look(user), state::poisoned);
  EXPECT_EQ(w.look(given), state::poisoned);
  EXPECT_EQ(w.look(input), state::pending);
  w.trigger(input);
  w.run();
  EXPECT_EQ(w.events.pending(), 0u);
}

TEST(graph, a_pass_is_bounded_and_a_cascade_takes_as_many_as_it_needs) {
  world w;
  const event first = w.events.create();
  event last = first;
  constexpr int length = 3 * graph::slots_per_pass;
  for (int i = 1; i < length; ++i) {
    const event next = w.events.create();
    w.events.trigger_after(w.events.find(next).slot, w.events.find(last).slot);
    w.events.subscribers(w.events.find(next).slot) = 1;
    last = next;
  }
  w.trigger(first);
  EXPECT_EQ(w.run(), 3);
  EXPECT_EQ(w.notices.size(), static_cast<std::size_t>(length - 1));
  EXPECT_EQ(w.look(last), state::triggered);
}

TEST(graph, the_same_set_merged_again_and_again_shares_its_dependences) {
  world w;
  std::vector<event> set;
  for (int i = 0; i < 20; ++i) {
    set.push_back(w.events.create());
  }
  std::vector<event> merged;
  for (int i = 0; i < 20; ++i) {
    merged.push_back(w.merge(set));
  }
  EXPECT_EQ(w.events.pending(), 20u + 20u + 1u);  // and the set's own
  for (std::size_t i = 0; i < set.size(); ++i) {
    w.trigger(set[i], i == 7);
    w.run();
  }
  for (const event e : merged) {
    EXPECT_EQ(w.look(e), state::poisoned);
  }
  EXPECT_EQ(w.events.pending(), 0u);
}

TEST(graph, invented_handles_are_errors) {
  world w;
  const event real = w.events.create();
  EXPECT_THROW((void)w.events.find(event(me, 0, 0)), error);
  EXPECT_THROW((void)w.events.find(event(me, 0, 1)), error);
  EXPECT_THROW((void)w.events.find(event(me, real.index(), 0)), error);
  EXPECT_THROW((void)w.events.find(event(me, real.index(), 2)), error);
  EXPECT_THROW((void)w.events.find(event(me, real.index() + 1, 1)), error);
  EXPECT_EQ(w.look(real), state::pending);
}

TEST(graph, limits_are_errors_that_leave_it_whole) {
  world w(16);
  std::vector<event> all;
  for (int i = 0; i < 14; ++i) {
    all.push_back(w.events.create());
  }
  EXPECT_THROW((void)w.merge({all[0], all[1], w.events.create(), all[2]}), error);
  for (const event e : all) {
    w.trigger(e);
  }
  w.run();
  EXPECT_EQ(w.events.pending(), 1u);  // the one that was an input of the merge

  world few(16, 2);  // two generations a slot
  std::set<event> made;
  for (int i = 0; i < 2 * 15 - 1; ++i) {
    const event e = few.events.create();
    EXPECT_TRUE(made.insert(e).second);
    few.trigger(e);
    few.run();
  }
  for (const event e : made) {
    EXPECT_EQ(few.look(e), state::triggered);
  }
  EXPECT_EQ(few.events.used(), 15u);
}

/// Random graphs against a model: an event ends when all its inputs have, poisoned if one is.
TEST(graph, agrees_with_a_model_in_random_orders) {
  random_generator random(seed_from_environment());
  for (int round = 0; round < 200; ++round) {
    world w;
    struct node {
      event e;
      std::vector<std::size_t> inputs;
      bool tolerant = false;
      bool done = false;
      bool poisoned = false;
    };
    std::vector<node> all;
    std::vector<std::size_t> users;
    for (std::size_t i = 0; i < 60; ++i) {
      node n;
      if (i < 4 || random.below(3) == 0) {
        n.e = w.events.create();
        users.push_back(i);
      } else {
        std::set<std::size_t> inputs;
        for (std::uint64_t k = 2 + random.below(9); k != 0; --k) {
          inputs.insert(random.below(i));
        }
        inputs.insert(i - 1);
        inputs.insert(i - 2);
        std::vector<event> of;
        for (const std::size_t input : inputs) {
          n.inputs.push_back(input);
          of.push_back(all[input].e);
        }
        n.tolerant = random.below(4) == 0;
        n.e = n.tolerant ? w.settled(of) : w.merge(of);
      }
      w.events.subscribers(w.events.find(n.e).slot) = static_cast<std::uint32_t>(i) + 1;
      all.push_back(n);
    }
    while (!users.empty()) {
      const std::size_t at = random.below(users.size());
      const bool bad = random.below(4) == 0;
      node& u = all[users[at]];
      u.done = true;
      u.poisoned = bad;
      w.trigger(u.e, bad);
      users.erase(users.begin() + static_cast<std::ptrdiff_t>(at));
      w.run();
      for (node& n : all) {
        if (n.inputs.empty() || n.done) {
          continue;
        }
        const auto is_done = [&](std::size_t i) { return all[i].done; };
        const auto is_bad = [&](std::size_t i) { return all[i].poisoned; };
        n.poisoned = !n.tolerant && std::any_of(n.inputs.begin(), n.inputs.end(), is_bad);
        n.done = n.poisoned || std::all_of(n.inputs.begin(), n.inputs.end(), is_done);
      }
      for (const node& n : all) {
        ASSERT_EQ(w.look(n.e), !n.done      ? state::pending
                               : n.poisoned ? state::poisoned
                                            : state::triggered);
      }
    }
    ASSERT_EQ(w.events.pending(), 0u);
    ASSERT_EQ(w.notices.size(), all.size());
    for (const graph::notice& n : w.notices) {
      EXPECT_EQ(n.how.poisoned, all[n.subscribers - 1].poisoned);
    }
  }
}

}  // namespace
}  // namespace sinew::event
