// SPDX-License-Identifier: BSD-3-Clause
// The peer table alone: what messages say goes in, aliases to trigger and messages to send come
// out. No network, no runtime.
#include "event/peer_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "support/ids.hpp"

namespace sinew::event {
namespace {

constexpr int me = 2;
constexpr int ranks = 6;

/// Stands where the courier does.
struct sent_messages {
  struct one {
    job_rank to;
    event newest;
    run how;
  };
  void settled(job_rank to, event newest, const run& how) { singles.push_back({to, newest, how}); }
  void settled(job_rank to, std::span<const event> clean) {
    batches.emplace_back(to, std::vector<event>(clean.begin(), clean.end()));
  }
  std::vector<one> singles;
  std::vector<std::pair<job_rank, std::vector<event>>> batches;
};

struct world {
  number_lists lists{1u << 12};
  peer_table peers{me, ranks, lists};
  sent_messages sent;
  std::vector<std::pair<std::uint32_t, bool>> resolved;

  graph::place find(event e) { return peers.find(peers.entry_of(e), e); }
  void await(event e, std::uint32_t alias) { peers.await(peers.entry_of(e), e, alias); }
  void learn(event newest, const run& how) {
    peers.learn(newest, how,
                [this](std::uint32_t alias, bool bad) { resolved.emplace_back(alias, bad); });
  }
  void notify(event e, std::uint32_t subscribers) {
    peers.notify({e, subscribers, {1, e.generation(), false}}, sent);
  }
};
using settled_list = std::vector<std::pair<std::uint32_t, bool>>;

TEST(peer_table, what_is_awaited_is_resolved_by_what_is_learnt) {
  world w;
  const event e(4, 7, 3);
  EXPECT_EQ(w.find(e).slot, 0u);
  EXPECT_EQ(w.find(e).known, state::pending);  // ask its owner
  w.await(e, 50);
  EXPECT_EQ(w.find(e).slot, 50u);
  w.learn(event(4, 7, 2), {1, 2, false});
  EXPECT_TRUE(w.resolved.empty());
  w.learn(e, {1, 3, false});
  EXPECT_EQ(w.resolved, (settled_list{{50, false}}));
  for (std::uint32_t g = 1; g <= 3; ++g) {
    EXPECT_EQ(w.find(event(4, 7, g)).known, state::triggered);
  }
  EXPECT_EQ(w.find(event(4, 7, 4)).known, state::pending);
  EXPECT_EQ(w.find(event(4, 8, 3)).known, state::pending);
  EXPECT_EQ(w.find(event(3, 7, 3)).known, state::pending);
  w.learn(e, {1, 3, false});  // twice: nothing
  EXPECT_EQ(w.resolved.size(), 1u);
}

TEST(peer_table, several_generations_of_one_slot_may_be_awaited_at_once) {
  world w;
  w.await(event(0, 1, 5), 10);
  w.await(event(0, 1, 6), 11);
  w.await(event(0, 1, 9), 12);
  std::set<event> listed;
  w.peers.each_awaited([&](event e) { listed.insert(e); });
  EXPECT_EQ(listed, (std::set<event>{event(0, 1, 5), event(0, 1, 6), event(0, 1, 9)}));
  EXPECT_EQ(w.find(event(0, 1, 6)).slot, 11u);
  w.learn(event(0, 1, 6), {6, 6, true});
  EXPECT_EQ(w.resolved, (settled_list{{11, true}}));
  EXPECT_EQ(w.find(event(0, 1, 9)).slot, 12u);
  w.learn(event(0, 1, 5), {1, 5, false});
  w.learn(event(0, 1, 9), {7, 9, false});
  EXPECT_EQ(w.resolved, (settled_list{{11, true}, {10, false}, {12, false}}));
  EXPECT_EQ(w.find(event(0, 1, 6)).known, state::poisoned);
  EXPECT_EQ(w.find(event(0, 1, 5)).known, state::triggered);
  EXPECT_EQ(w.find(event(0, 1, 8)).known, state::triggered);
  listed.clear();
  w.peers.each_awaited([&](event e) { listed.insert(e); });
  EXPECT_TRUE(listed.empty());
}

TEST(peer_table, what_is_known_does_not_depend_on_the_order_of_messages) {
  random_generator random(seed_from_environment());
  for (int round = 0; round < 300; ++round) {
    // One slot's true history: generations 1..n, some poisoned, told as runs of equal fate.
    std::vector<bool> poisoned;
    for (std::uint64_t n = 1 + random.below(20); n != 0; --n) {
      poisoned.push_back(random.below(3) == 0);
    }
    std::vector<run> facts;
    for (std::uint32_t from = 1; from <= poisoned.size();) {
      std::uint32_t to = from;
      while (to < poisoned.size() && poisoned[to] == poisoned[from - 1]) {
        ++to;
      }
      const auto shorter = static_cast<std::uint32_t>(from + random.below(to - from + 1));
      facts.push_back({from, shorter, poisoned[from - 1]});
      facts.push_back({from, to, poisoned[from - 1]});
      from = to + 1;
    }
    for (std::size_t i = facts.size(); i-- > 1;) {
      std::swap(facts[i], facts[random.below(i + 1)]);
    }
    world w;
    std::map<std::uint32_t, bool> expected;
    for (std::uint32_t g = 1; g <= poisoned.size(); ++g) {
      if (random.below(2) == 0) {
        w.await(event(1, 3, g), 100 + g);
        expected[100 + g] = poisoned[g - 1];
      }
    }
    for (const run& fact : facts) {
      w.learn(event(1, 3, fact.to), fact);
    }
    for (std::uint32_t g = 1; g <= poisoned.size(); ++g) {
      EXPECT_EQ(w.find(event(1, 3, g)).known, poisoned[g - 1] ? state::poisoned : state::triggered);
    }
    EXPECT_EQ(w.resolved.size(), expected.size());  // each once
    EXPECT_EQ((std::map<std::uint32_t, bool>(w.resolved.begin(), w.resolved.end())), expected);
  }
}

TEST(peer_table, a_notice_reaches_each_subscriber_once_in_one_message_with_others) {
  world w;
  const event first(me, 1, 1);
  const event second(me, 2, 8);
  std::uint32_t of_first = 0;
  std::uint32_t of_second = 0;
  for (const int rank : {0, 1, 3, 4, 5}) {
    w.peers.subscribe(of_first, job_rank{rank});
  }
  w.peers.subscribe(of_second, 3);
  w.notify(first, of_first);
  w.notify(second, of_second);
  EXPECT_TRUE(w.peers.has_gathered());
  EXPECT_TRUE(w.sent.batches.empty());
  w.peers.flush(w.sent);
  EXPECT_FALSE(w.peers.has_gathered());
  EXPECT_TRUE(w.sent.singles.empty());
  std::sort(w.sent.batches.begin(), w.sent.batches.end());
  ASSERT_EQ(w.sent.batches.size(), 5u);
  for (const auto& [to, events] : w.sent.batches) {
    EXPECT_NE(to, me);
    EXPECT_EQ(events, to == 3 ? (std::vector<event>{first, second}) : std::vector<event>{first});
  }
}

TEST(peer_table, poison_and_runs_that_do_not_begin_with_the_slot_are_told_at_once) {
  world w;
  const event e(me, 9, 4);
  std::uint32_t subscribers = 0;
  w.peers.subscribe(subscribers, 0);
  w.peers.subscribe(subscribers, 5);
  w.peers.notify({e, subscribers, {4, 4, true}}, w.sent);
  ASSERT_EQ(w.sent.singles.size(), 2u);
  EXPECT_TRUE(w.sent.singles[0].how.poisoned);
  std::uint32_t one = 0;
  w.peers.subscribe(one, 1);
  w.peers.notify({e, one, {3, 4, false}}, w.sent);
  ASSERT_EQ(w.sent.singles.size(), 3u);
  EXPECT_EQ(w.sent.singles[2].to, 1);
  EXPECT_EQ(w.sent.singles[2].how.from, 3u);
  EXPECT_FALSE(w.peers.has_gathered());
}

TEST(peer_table, a_full_batch_is_sent_without_waiting) {
  world w;
  for (std::uint32_t i = 1; i <= 150; ++i) {
    std::uint32_t subscribers = 0;
    w.peers.subscribe(subscribers, 4);
    w.notify(event(me, i, 1), subscribers);
  }
  w.peers.flush(w.sent);
  std::vector<event> all;
  for (const auto& [to, events] : w.sent.batches) {
    EXPECT_EQ(to, 4);
    EXPECT_LE(events.size(), 64u);
    all.insert(all.end(), events.begin(), events.end());
  }
  EXPECT_EQ(w.sent.batches.size(), 3u);
  ASSERT_EQ(all.size(), 150u);
  for (std::uint32_t i = 0; i < 150; ++i) {
    EXPECT_EQ(all[i], event(me, i + 1, 1));
  }
}

TEST(peer_table, a_loss_poisons_what_was_awaited_and_returns_what_was_entrusted_once) {
  world w;
  w.learn(event(5, 600, 2), {1, 2, false});
  w.await(event(5, 600, 3), 20);
  w.await(event(5, 600, 4), 21);
  w.await(event(5, 1, 1), 22);
  w.await(event(4, 1, 1), 23);
  const auto pending = [](event) { return true; };
  w.peers.entrust(event(me, 1, 1), 5, pending);
  w.peers.entrust(event(me, 2, 1), 5, pending);
  w.peers.entrust(event(me, 3, 1), 4, pending);
  const auto resolve = [&w](std::uint32_t alias, bool bad) { w.resolved.emplace_back(alias, bad); };
  EXPECT_EQ(w.peers.lose(5, resolve), (std::vector<event>{event(me, 1, 1), event(me, 2, 1)}));
  std::sort(w.resolved.begin(), w.resolved.end());
  EXPECT_EQ(w.resolved, (settled_list{{20, true}, {21, true}, {22, true}}));
  EXPECT_TRUE(w.peers.is_lost(5));
  EXPECT_FALSE(w.peers.is_lost(4));
  EXPECT_TRUE(w.peers.lose(5, resolve).empty());
  EXPECT_EQ(w.resolved.size(), 3u);
  EXPECT_EQ(w.find(event(5, 600, 2)).known, state::triggered);  // known before
  EXPECT_EQ(w.find(event(5, 600, 3)).known, state::poisoned);
  EXPECT_EQ(w.find(event(5, 9999, 1)).known, state::poisoned);
}

TEST(peer_table, forgets_what_was_entrusted_and_has_triggered) {
  world w;
  const auto none_pending = [](event e) { return e.index() > 990; };
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    w.peers.entrust(event(me, i, 1), 0, none_pending);
  }
  const std::vector<event> left = w.peers.lose(0, [](std::uint32_t, bool) {});
  EXPECT_LT(left.size(), 100u);
  EXPECT_EQ(std::count_if(left.begin(), left.end(), none_pending), 10);
}

TEST(peer_table, knows_which_ranks_there_are) {
  world w;
  EXPECT_THROW((void)w.peers.entry_of(event(ranks, 1, 1)), error);
  EXPECT_THROW((void)w.peers.is_lost(ranks), error);
  EXPECT_THROW((void)w.peers.is_lost(-1), error);
}

}  // namespace
}  // namespace sinew::event
