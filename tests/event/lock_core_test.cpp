// SPDX-License-Identifier: BSD-3-Clause
// The protocol by which reservations move, explored: ranks without threads, their messages
// delivered in an order that a seed chooses.
#include "event/lock_core.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/random.hpp"

namespace {

using namespace sinew::event;

/// Ranks, what they hold, and messages under way. It fails at once where two hold what excludes
/// each other.
class world {
 public:
  struct wish : lock_request {
    reservation what;
    int rank = 0;
    bool granted = false;
    bool ended = false;  ///< given back, or nothing to give back
  };
  struct letter {
    int from;
    int to;
    lock_item item;
  };

  world(int ranks, std::uint32_t local_grants, std::uint64_t seed, bool in_order)
      : random(seed), in_order_(in_order) {
    for (int r = 0; r < ranks; ++r) {
      cores.push_back(std::make_unique<lock_core>(sinew::job_rank{r}, ranks, local_grants));
    }
  }

  [[nodiscard]] lock_core& core(int r) { return *cores[static_cast<std::size_t>(r)]; }
  [[nodiscard]] int ranks() const { return static_cast<int>(cores.size()); }
  [[nodiscard]] std::size_t pick(std::size_t below) { return random.below(below); }

  wish& ask(int rank, reservation r, lock_mode how, bool destroys = false) {
    wishes.push_back(std::make_unique<wish>());
    wish& w = *wishes.back();
    w.what = r;
    w.rank = rank;
    w.mode = how.mode;
    w.exclusive = how.exclusive;
    w.destroys = destroys;
    lock_core::cell* const c = core(rank).find(r);
    if (c == nullptr) {
      core(rank).refuse(w);
    } else {
      core(rank).enter(r, *c, w);
    }
    collect(rank);
    return w;
  }

  void give_back(wish& w) {
    w.ended = true;
    auto& here = holding[w.what];
    ASSERT_EQ(here.erase(&w), 1u);
    lock_core::cell* const c = core(w.rank).find(w.what);
    ASSERT_NE(c, nullptr);
    ASSERT_TRUE(core(w.rank).release(w.what, *c));
    collect(w.rank);
  }

  /// One message that may come next; false if there is none.
  bool deliver() {
    if (letters.empty()) {
      return false;
    }
    std::size_t at = pick(letters.size());
    if (in_order_) {  // the first one between this pair
      for (std::size_t i = 0; i < at; ++i) {
        if (letters[i].from == letters[at].from && letters[i].to == letters[at].to) {
          at = i;
        }
      }
    }
    const letter one = letters[at];
    letters.erase(letters.begin() + static_cast<std::ptrdiff_t>(at));
    if (alive(one.to)) {
      core(one.to).receive(sinew::job_rank{one.from}, one.item);
      collect(one.to);
    }
    return true;
  }

  [[nodiscard]] bool alive(int rank) const { return dead.count(rank) == 0; }
  [[nodiscard]] bool is_lost(const wish& w) const { return !alive(w.rank); }

  /// It does nothing any more. What it has sent may still arrive.
  void kill(int rank) {
    dead.insert(rank);
    for (auto& [r, who] : holding) {
      for (auto at = who.begin(); at != who.end();) {
        if ((*at)->rank == rank) {
          if ((*at)->exclusive) {
            left_half_done.insert(r);
          }
          at = who.erase(at);
        } else {
          ++at;
        }
      }
    }
  }
  void tell(int rank, int lost) {
    core(rank).lose(sinew::job_rank{lost});
    collect(rank);
  }

  /// How many ranks have the lock, or it is on its way to.
  [[nodiscard]] int tokens(reservation r) {
    int count = 0;
    for (int rank = 0; rank < ranks(); ++rank) {
      lock_core::cell* const c = core(rank).find(r);
      count += c != nullptr && c->here && alive(rank) ? 1 : 0;
    }
    for (const letter& l : letters) {
      count += l.item.what == r.bits() && l.item.of == lock_item::token ? 1 : 0;
    }
    return count;
  }

  sinew::random_generator random;
  std::vector<std::unique_ptr<lock_core>> cores;
  std::vector<letter> letters;
  std::vector<std::unique_ptr<wish>> wishes;
  std::map<reservation, std::set<wish*>> holding;
  std::vector<wish*> order;  ///< of grants
  std::size_t sent = 0;
  std::set<int> dead;
  std::set<reservation> left_half_done;  ///< killed while it held it alone, nobody has looked since

 private:
  void collect(int rank) {
    for (lock_request* q = core(rank).take_granted(); q != nullptr;) {
      auto& w = static_cast<wish&>(*q);
      q = q->pool_link;
      ASSERT_FALSE(w.granted);
      w.granted = true;
      order.push_back(&w);
      if (w.refused || w.destroys) {
        w.ended = true;
        continue;
      }
      ASSERT_TRUE(w.suspect || left_half_done.count(w.what) == 0)
          << "somebody takes for whole what a lost rank has left";
      auto& here = holding[w.what];
      for (const wish* other : here) {
        ASSERT_FALSE(w.exclusive || other->exclusive || other->mode != w.mode)
            << "two hold the same";
      }
      here.insert(&w);
    }
    for (const sinew::job_rank peer : core(rank).addressees()) {
      for (const lock_item& item : core(rank).outgoing(peer)) {
        letters.push_back({rank, peer.value(), item});
        ++sent;
      }
      core(rank).outgoing(peer).clear();
    }
    core(rank).addressees().clear();
  }

  bool in_order_;
};

/// Random wishes of random ranks for a few reservations, all granted and given back at last.
void explore(std::uint64_t seed, bool in_order) {
  SCOPED_TRACE("SINEW_TEST_SEED=" + std::to_string(seed));
  sinew::random_generator choice(seed);
  const int ranks = 1 + static_cast<int>(choice.below(8));
  world w(ranks, 1 + static_cast<std::uint32_t>(choice.below(4)), seed, in_order);
  std::vector<reservation> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(w.core(static_cast<int>(w.pick(static_cast<std::size_t>(ranks)))).create());
  }
  const std::size_t goal = 200;
  const std::size_t patience = 40;  // wishes that are open at a time
  while (!testing::Test::HasFatalFailure()) {
    std::vector<world::wish*> held;
    for (const auto& [r, who] : w.holding) {
      held.insert(held.end(), who.begin(), who.end());
    }
    const std::size_t open = w.wishes.size() - w.order.size();
    const std::size_t what = w.pick(4);
    if (what == 0 && w.wishes.size() < goal && open < patience) {
      lock_mode how;
      how.exclusive = w.pick(2) == 0;
      how.mode = static_cast<std::uint32_t>(w.pick(2));
      w.ask(static_cast<int>(w.pick(static_cast<std::size_t>(ranks))), all[w.pick(all.size())],
            how);
    } else if (what == 1 && !held.empty()) {
      w.give_back(*held[w.pick(held.size())]);
    } else if (!w.deliver() && held.empty() && w.wishes.size() == goal) {
      break;
    }
    for (const reservation r : all) {
      ASSERT_EQ(w.tokens(r), 1);
    }
  }
  ASSERT_EQ(w.order.size(), goal) << "somebody waits for ever";
}

TEST(lock_core, grants_all_and_never_two_that_exclude_each_other_whatever_the_order) {
  const std::uint64_t seed = sinew::seed_from_environment();
  for (std::uint64_t i = 0; i < 500 && !HasFatalFailure(); ++i) {
    explore(seed + i, i % 2 == 0);
  }
}

TEST(lock_core, a_rank_gets_it_after_local_grants_of_another_at_most) {
  constexpr std::uint32_t most = 5;
  world w(2, most, 1, true);
  const reservation r = w.core(0).create();
  std::vector<world::wish*> mine;
  for (int i = 0; i < 100; ++i) {
    mine.push_back(&w.ask(0, r, {}));
  }
  world::wish& other = w.ask(1, r, {});
  while (w.deliver()) {
  }
  std::size_t before = 0;
  while (!other.granted) {
    w.give_back(**w.holding[r].begin());
    ++before;
    while (w.deliver()) {
    }
  }
  EXPECT_EQ(before, most + 1);  // with the one that held it when the wish came
  w.give_back(other);
  while (w.deliver()) {
  }
  EXPECT_TRUE(mine[before]->granted) << "it comes back";
}

TEST(lock_core, ranks_that_wait_get_it_in_turn_and_one_rank_needs_no_message) {
  world w(5, 1, 1, true);
  const reservation r = w.core(0).create();
  for (int i = 0; i < 100; ++i) {
    world::wish& mine = w.ask(0, r, {});
    ASSERT_TRUE(mine.granted);
    w.give_back(mine);
  }
  EXPECT_EQ(w.sent, 0u);
  world::wish& first = w.ask(0, r, {});
  std::vector<world::wish*> others;
  for (int rank = 1; rank < 5; ++rank) {
    others.push_back(&w.ask(rank, r, {}));
    while (w.deliver()) {
    }
  }
  w.give_back(first);
  for (world::wish* each : others) {
    while (w.deliver()) {
    }
    ASSERT_TRUE(each->granted);
    w.give_back(*each);
  }
  EXPECT_LE(w.sent, 2u * 4 + 6);
}

TEST(lock_core, holders_of_one_mode_hold_together_on_all_ranks_and_a_writer_waits_for_the_last) {
  world w(4, 8, 3, true);
  const reservation r = w.core(1).create();
  std::vector<world::wish*> readers;
  for (int rank = 0; rank < 4; ++rank) {
    readers.push_back(&w.ask(rank, r, shared(7)));
    while (w.deliver()) {
    }
    ASSERT_TRUE(readers.back()->granted);
  }
  world::wish& writer = w.ask(2, r, {});
  while (w.deliver()) {
  }
  for (world::wish* each : readers) {
    EXPECT_FALSE(writer.granted);
    w.give_back(*each);
    while (w.deliver()) {
    }
  }
  EXPECT_TRUE(writer.granted);
}

TEST(lock_core, what_waits_behind_a_destroyer_is_refused_everywhere_and_the_number_is_used_again) {
  world w(3, 2, 5, true);
  const reservation r = w.core(0).create();
  world::wish& holder = w.ask(1, r, {});
  while (w.deliver()) {
  }
  world::wish& destroyer = w.ask(0, r, {}, true);
  while (w.deliver()) {
  }
  world::wish& late = w.ask(2, r, {});
  while (w.deliver()) {
  }
  EXPECT_FALSE(destroyer.granted);
  w.give_back(holder);
  while (w.deliver()) {
  }
  EXPECT_TRUE(destroyer.granted && late.granted && late.refused);
  EXPECT_EQ(w.core(0).find(r), nullptr);
  const reservation again = w.core(0).create();
  EXPECT_EQ(again.index(), r.index());
  EXPECT_NE(again, r);
  for (int rank = 0; rank < 3; ++rank) {
    world::wish& one = w.ask(rank, again, {});
    while (w.deliver()) {
    }
    ASSERT_TRUE(one.granted && !one.refused);
    w.give_back(one);
    world::wish& stale = w.ask(rank, r, {});
    while (w.deliver()) {
    }
    EXPECT_TRUE(stale.granted && stale.refused);
  }
}

/// As explore(), with ranks that are killed on the way, which others learn at various times.
void explore_losses(std::uint64_t seed) {
  SCOPED_TRACE("SINEW_TEST_SEED=" + std::to_string(seed));
  sinew::random_generator choice(seed);
  const int ranks = 2 + static_cast<int>(choice.below(6));
  const std::size_t victims = 1 + choice.below(static_cast<std::size_t>(std::min(3, ranks - 1)));
  world w(ranks, 1 + static_cast<std::uint32_t>(choice.below(4)), seed, true);
  std::vector<reservation> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(w.core(static_cast<int>(w.pick(static_cast<std::size_t>(ranks)))).create());
  }
  const std::size_t goal = 150;
  const auto any_alive = [&] {
    int rank = 0;
    do {
      rank = static_cast<int>(w.pick(static_cast<std::size_t>(ranks)));
    } while (!w.alive(rank));
    return rank;
  };
  while (!testing::Test::HasFatalFailure()) {
    std::vector<world::wish*> held;
    for (const auto& [r, who] : w.holding) {
      held.insert(held.end(), who.begin(), who.end());
    }
    const std::size_t what = w.pick(40);
    if (what == 0 && w.dead.size() < victims && w.wishes.size() > 20) {
      w.kill(any_alive());
    } else if (what == 1 && !w.dead.empty()) {
      for (const int lost : w.dead) {
        w.tell(any_alive(), lost);
      }
    } else if (what < 12 && w.wishes.size() < goal) {
      lock_mode how;
      how.exclusive = w.pick(2) == 0;
      how.mode = static_cast<std::uint32_t>(w.pick(2));
      w.ask(any_alive(), all[w.pick(all.size())], how);
    } else if (what < 22 && !held.empty()) {
      world::wish& mine = *held[w.pick(held.size())];
      lock_core::cell* const c = w.core(mine.rank).find(mine.what);
      if (mine.suspect && w.pick(2) == 0 && lock_core::recover(*c)) {
        w.left_half_done.erase(mine.what);
      }
      w.give_back(mine);
    } else if (!w.deliver() && held.empty() && w.wishes.size() == goal &&
               w.dead.size() == victims) {
      bool news = false;
      for (int rank = 0; rank < ranks; ++rank) {
        for (const int lost : w.dead) {
          if (w.alive(rank) && !w.core(rank).is_lost(sinew::job_rank{lost})) {
            w.tell(rank, lost);
            news = true;
          }
        }
      }
      if (!news && w.letters.empty()) {
        break;
      }
    }
  }
  for (const auto& each : w.wishes) {
    if (w.is_lost(*each)) {
      continue;
    }
    ASSERT_TRUE(each->ended) << "rank " << each->rank << " waits for ever for one of rank "
                             << each->what.creator();
    ASSERT_TRUE(!each->refused || !w.alive(each->what.creator().value()));
  }
  for (const reservation r : all) {
    ASSERT_EQ(w.tokens(r), w.alive(r.creator().value()) ? 1 : 0);
  }
}

TEST(lock_core, when_ranks_are_lost_the_others_get_all_they_asked_for_or_a_refusal) {
  const std::uint64_t seed = sinew::seed_from_environment();
  for (std::uint64_t i = 0; i < 1000 && !HasFatalFailure(); ++i) {
    explore_losses(seed + i);
  }
}

TEST(lock_core, is_suspect_only_if_the_lost_rank_may_have_held_it) {
  world w(3, 4, 1, true);
  const auto all = [&] {
    while (w.deliver()) {
    }
  };
  const reservation idle = w.core(0).create();
  const reservation held = w.core(0).create();
  const reservation read = w.core(0).create();
  const reservation read_here = w.core(0).create();
  world::wish& mine = w.ask(0, idle, {});
  w.ask(2, idle, {});  // waits behind
  w.ask(2, held, {});
  all();
  world::wish& behind = w.ask(1, held, {});
  world::wish& here = w.ask(0, read, shared());
  w.ask(2, read, shared());
  world::wish& also_here = w.ask(1, read_here, shared());
  all();
  w.kill(2);
  w.tell(1, 2);  // rank 0 learns it from rank 1
  all();
  EXPECT_TRUE(w.core(0).is_lost(2));
  EXPECT_EQ(w.core(0).take_suspects(), (std::vector<reservation>{held, read}));
  w.give_back(mine);
  world::wish& next = w.ask(1, idle, {});
  all();
  EXPECT_TRUE(next.granted && !next.suspect);
  w.give_back(next);

  EXPECT_TRUE(behind.granted && behind.suspect);
  EXPECT_TRUE(lock_core::recover(*w.core(1).find(held)));
  w.left_half_done.erase(held);
  w.give_back(behind);
  world::wish& whole = w.ask(0, held, {});
  all();
  EXPECT_TRUE(whole.granted && !whole.suspect);
  w.give_back(whole);

  world::wish& writer = w.ask(1, read, {});
  all();
  EXPECT_FALSE(writer.granted) << "rank 0 still reads";
  EXPECT_FALSE(lock_core::recover(*w.core(0).find(read))) << "not held alone";
  w.give_back(here);
  all();
  EXPECT_TRUE(writer.granted && writer.suspect);
  w.give_back(writer);

  world::wish& last = w.ask(0, read_here, {});
  all();
  EXPECT_FALSE(last.granted) << "rank 1 still reads";
  w.give_back(also_here);
  all();
  EXPECT_TRUE(last.granted && !last.suspect);
  w.give_back(last);
  all();
}

TEST(lock_core, knows_what_is_no_reservation) {
  lock_core core(1, 4, 2);
  EXPECT_EQ(core.find({}), nullptr);
  EXPECT_EQ(core.find(reservation(9, 0, 1)), nullptr);
  EXPECT_EQ(core.find(reservation(1, 0, 1)), nullptr);
  const reservation mine = core.create();
  ASSERT_NE(core.find(mine), nullptr);
  EXPECT_EQ(core.find(reservation(1, mine.index(), mine.generation() + 1)), nullptr);
  EXPECT_FALSE(core.release(mine, *core.find(mine)));
}

}  // namespace
