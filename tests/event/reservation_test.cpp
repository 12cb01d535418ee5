// SPDX-License-Identifier: BSD-3-Clause
// Reservations over both fabrics and 1 to 16 ranks: their promises, misuse, many waiters.
#include "sinew/event/reservation.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "event/event_fixture.hpp"
#include "gtest/gtest.h"
#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "sinew/event/coroutine.hpp"
#include "support/event_job.hpp"

namespace {

using namespace sinew;
using namespace sinew::test;
using event::hold;
using event::lock_mode;
using event::reservation;
using event::reservations;
using event::state;
using event::user_event;
using occurrence = event::event;

/// What a test's ranks share beside the module under test.
struct board {
  std::atomic<std::uint64_t> words[64] = {};
  std::atomic<int> holders{0};
  std::atomic<int> writers{0};
  std::uint64_t plain = 0;  ///< what a lock guards
};

struct rank_of_locks {
  event_member& job;
  reservations& locks;
};

void with_locks(int ranks, backend over, core::threading threads,
                const std::function<void(rank_of_locks&)>& body,
                const event::reservation_options& how = {}) {
  run_events(ranks, over, threads, [&](event_member& m) {
    reservations locks(m.events, how);
    m.meet();
    rank_of_locks r{m, locks};
    body(r);
    m.settle();
  });
}

/// Rank 0 makes it, all know it.
reservation common(rank_of_locks& r, board& b, std::size_t word = 0) {
  if (r.job.rank == 0) {
    b.words[word].store(r.locks.create().bits());
  }
  r.job.meet();
  return reservation::from_bits(b.words[word].load());
}

class reservation_contract : public testing::TestWithParam<std::tuple<int, backend>> {
 protected:
  [[nodiscard]] static int ranks() { return std::get<0>(GetParam()); }
  [[nodiscard]] static backend over() { return std::get<1>(GetParam()); }
};

TEST_P(reservation_contract, guards_what_ranks_change_by_turns) {
  board b;
  with_locks(ranks(), over(), core::threading::one, [&](rank_of_locks& r) {
    const reservation lock = common(r, b);
    for (int i = 0; i < 50; ++i) {
      const hold mine = r.locks.lock(lock);
      ++b.plain;  // the thread sanitizer watches it
    }
    r.job.settle();
    EXPECT_EQ(b.plain, 50u * static_cast<unsigned>(r.job.size));
    EXPECT_EQ(r.locks.held(lock), 0u);
  });
}

TEST_P(reservation_contract, a_chain_of_deferred_acquires_and_releases_runs_by_itself) {
  board b;
  with_locks(ranks(), over(), core::threading::one, [&](rank_of_locks& r) {
    const auto me = static_cast<std::size_t>(r.job.rank);
    b.words[me].store(r.locks.create().bits());
    r.job.meet();
    random_generator choice(7 + me);
    const user_event start = r.job.events.create();
    std::vector<occurrence> ends;
    for (int chain = 0; chain < 8; ++chain) {
      occurrence e = start;
      for (int depth = 0; depth < 100; ++depth) {
        const auto lock = reservation::from_bits(
            b.words[choice.below(static_cast<std::uint64_t>(r.job.size))].load());
        e = r.locks.acquire(lock, {}, e);
        r.locks.release(lock, e);
      }
      ends.push_back(e);
    }
    r.job.meet();
    r.job.events.trigger(start);
    EXPECT_EQ(r.job.events.wait(r.job.events.merge(ends)), state::triggered);
    r.job.settle();
    EXPECT_EQ(r.locks.misuses(), 0u);
    EXPECT_EQ(r.job.events.pending(), 0u);
  });
}

TEST_P(reservation_contract, sharers_of_one_mode_are_inside_together_on_all_ranks) {
  board b;
  with_locks(ranks(), over(), core::threading::one, [&](rank_of_locks& r) {
    const reservation lock = common(r, b);
    {
      const hold mine = r.locks.lock(lock, event::shared(3));
      b.holders.fetch_add(1);
      // Nobody leaves before all are in: it would hang if they excluded each other.
      r.job.until([&] { return b.holders.load() == r.job.size; });
    }
    {
      const hold mine = r.locks.lock(lock);
      EXPECT_EQ(b.writers.fetch_add(1), 0);
      b.writers.fetch_sub(1);
    }
  });
}

// Random wishes of all kinds; what is inside is checked as it happens, and all must be granted.
TEST_P(reservation_contract, random_wishes_never_meet_what_excludes_them_and_all_are_granted) {
  const std::uint64_t seed = seed_from_environment();
  board b;
  constexpr std::size_t locks = 4;
  std::atomic<int> inside[locks] = {};    // holders
  std::atomic<int> modes[locks][2] = {};  // sharers by mode
  std::atomic<int> alone[locks] = {};
  with_locks(ranks(), over(), core::threading::one, [&](rank_of_locks& r) {
    if (r.job.rank == 0) {
      for (std::size_t i = 0; i < locks; ++i) {
        b.words[i].store(r.locks.create().bits());
      }
    }
    r.job.meet();
    random_generator choice(seed + static_cast<std::uint64_t>(r.job.rank));
    int granted = 0;
    const auto one = [&](event::system& s, std::size_t at, lock_mode how,
                         bool defer) -> event::activity {
      const auto lock = reservation::from_bits(b.words[at].load());
      user_event begin;
      if (defer) {
        begin = s.create();
      }
      const occurrence got = r.locks.acquire(lock, how, begin);
      if (defer) {
        s.trigger(begin);
      }
      EXPECT_EQ(co_await event::until(s, got), state::triggered);
      inside[at].fetch_add(1);
      if (how.exclusive) {
        EXPECT_EQ(alone[at].fetch_add(1), 0);
        EXPECT_EQ(inside[at].load(), 1);
        alone[at].fetch_sub(1);
      } else {
        modes[at][how.mode].fetch_add(1);
        EXPECT_EQ(modes[at][1 - how.mode].load(), 0);
        EXPECT_EQ(alone[at].load(), 0);
        modes[at][how.mode].fetch_sub(1);
      }
      inside[at].fetch_sub(1);
      r.locks.release(lock);
      ++granted;
      co_return true;
    };
    constexpr int wishes = 300;
    for (int i = 0; i < wishes; ++i) {
      lock_mode how;
      how.exclusive = choice.with_probability(0.4);
      how.mode = static_cast<std::uint32_t>(choice.below(2));
      (void)one(r.job.events, choice.below(locks), how, choice.with_probability(0.5));
      if (choice.with_probability(0.3)) {
        (void)r.job.runtime.poll();
      }
    }
    r.job.until([&] { return granted == wishes; });
  });
}

INSTANTIATE_TEST_SUITE_P(fabrics, reservation_contract,
                         testing::Combine(testing::Values(1, 2, 3, 5, 16),
                                          testing::Values(backend::inproc, backend::shm)),
                         [](const auto& i) {
                           return name_of(std::get<1>(i.param)) + "_" +
                                  std::to_string(std::get<0>(i.param));
                         });

TEST(reservation, waits_for_its_precondition_and_keeps_the_order_of_arrival) {
  with_locks(1, backend::inproc, core::threading::one, [](rank_of_locks& r) {
    event::system& s = r.job.events;
    const reservation lock = r.locks.create();
    EXPECT_FALSE(r.locks.acquire(lock).exists()) << "free: held at once, without an event";
    const user_event late = s.create();
    const occurrence third = r.locks.acquire(lock, {}, late);
    const occurrence second = r.locks.acquire(lock);
    s.trigger(late);
    EXPECT_EQ(r.locks.waiting(lock), 2u);
    r.locks.release(lock);
    EXPECT_TRUE(s.has_triggered(second));
    EXPECT_FALSE(s.has_triggered(third));
    const user_event work = s.create();
    r.locks.release(lock, work);
    EXPECT_FALSE(s.has_triggered(third));
    s.trigger(work);
    EXPECT_TRUE(s.has_triggered(third));
    r.locks.release(lock);
    EXPECT_EQ(r.locks.held(lock), 0u);
  });
}

TEST(reservation, poison_of_preconditions_neither_keeps_nor_loses_a_hold) {
  with_locks(2, backend::shm, core::threading::one,
             [board = std::make_shared<struct board>()](rank_of_locks& r) {
               event::system& s = r.job.events;
               const reservation lock = common(r, *board);
               const user_event bad = s.create();
               s.poison(bad);
               // The task between failed: the release happens all the same.
               const occurrence got = r.locks.acquire(lock);
               EXPECT_EQ(s.wait(got), state::triggered);
               r.locks.release(lock, bad);
               // The acquire's own precondition failed: it holds in its turn, and says that it
               // failed.
               const occurrence failed = r.locks.acquire(lock, {}, bad);
               EXPECT_EQ(s.wait(failed), state::poisoned);
               EXPECT_EQ(r.locks.held(lock), 1u);
               r.locks.release(lock, failed);
               const hold after = r.locks.lock(lock);
               EXPECT_FALSE(after.poisoned());
               EXPECT_EQ(r.locks.misuses(), 0u);
             });
}

TEST(reservation, misuse_in_a_call_throws_and_in_a_deferred_release_is_counted) {
  with_locks(2, backend::inproc, core::threading::one, [](rank_of_locks& r) {
    event::system& s = r.job.events;
    const reservation lock = r.locks.create();
    try {
      r.locks.release(lock);
      ADD_FAILURE() << "it was not held";
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("not held on this rank"), std::string::npos);
    }
    EXPECT_THROW((void)r.locks.acquire({}), error);
    EXPECT_THROW((void)r.locks.acquire(reservation(77, 0, 1)), error);
    EXPECT_THROW((void)r.locks.acquire(reservation(job_rank{r.job.rank}, 12345, 1)), error);
    EXPECT_THROW(r.locks.release(reservation(job_rank{r.job.rank}, 0, 9)), error);
    const std::uint64_t before = r.locks.misuses();
    const user_event later = s.create();
    r.locks.release(lock, later);
    s.trigger(later);
    EXPECT_EQ(r.locks.misuses(), before + 1);
    const hold mine = r.locks.lock(lock);
    EXPECT_EQ(r.locks.held(lock), 1u);
  });
}

TEST(reservation, trying_says_now_or_when_it_is_worth_it) {
  board b;
  with_locks(2, backend::shm, core::threading::one, [&](rank_of_locks& r) {
    event::system& s = r.job.events;
    const reservation lock = common(r, b);
    if (r.job.rank == 0) {
      EXPECT_TRUE(r.locks.try_acquire(lock));
      EXPECT_FALSE(r.locks.try_acquire(lock));
      occurrence again;
      EXPECT_FALSE(r.locks.try_acquire(lock, {}, &again));
      EXPECT_FALSE(s.has_triggered(again));
      r.locks.release(lock);
      EXPECT_TRUE(s.has_triggered(again));
      EXPECT_TRUE(r.locks.try_acquire(lock));
      r.locks.release(lock);
    }
    r.job.meet();
    if (r.job.rank == 1) {
      for (occurrence again; !r.locks.try_acquire(lock, {}, &again);) {
        EXPECT_EQ(s.wait(again), state::triggered);
      }
      r.locks.release(lock);
    }
  });
}

TEST(reservation, ten_thousand_wait_in_order_and_leave_nothing) {
  with_locks(1, backend::inproc, core::threading::one, [](rank_of_locks& r) {
    event::system& s = r.job.events;
    const reservation lock = r.locks.create();
    EXPECT_FALSE(r.locks.acquire(lock).exists());
    constexpr int many = 10'000;
    static int turn;
    turn = 0;
    struct place : event::waiter {
      int number = 0;
    };
    std::vector<place> all(many);
    for (int i = 0; i < many; ++i) {
      const occurrence e = r.locks.acquire(lock);
      r.locks.release(lock, e);
      auto& mine = all[static_cast<std::size_t>(i)];
      mine.number = i;
      mine.fire = [](event::waiter& w) noexcept {
        EXPECT_EQ(static_cast<place&>(w).number, turn++);
      };
      ASSERT_EQ(s.subscribe(e, mine), state::pending);
    }
    EXPECT_EQ(r.locks.waiting(lock), static_cast<std::size_t>(many));
    r.locks.release(lock);
    EXPECT_EQ(turn, many);
    EXPECT_EQ(s.pending(), 0u);
    EXPECT_EQ(r.locks.held(lock), 0u);
  });
}

TEST(reservation, a_grant_allocates_nothing_once_as_many_have_waited) {
  with_locks(1, backend::inproc, core::threading::one, [](rank_of_locks& r) {
    event::system& s = r.job.events;
    const reservation a = r.locks.create();
    const reservation b = r.locks.create();
    const auto round = [&] {
      const user_event start = s.create();
      occurrence e = start;
      for (int i = 0; i < 100; ++i) {
        const reservation lock = i % 3 == 0 ? a : b;
        e = r.locks.acquire(lock, {}, e);
        r.locks.release(lock, e);
      }
      s.trigger(start);
      EXPECT_TRUE(s.has_triggered(e));
    };
    round();
    const long before = event::allocations_here();
    for (int i = 0; i < 10; ++i) {
      round();
    }
    EXPECT_EQ(event::allocations_here() - before, 0);
  });
}

TEST(reservation, no_rank_starves_while_another_asks_without_end) {
  board b;
  std::atomic<bool> got{false};
  with_locks(2, backend::shm, core::threading::one,
             [&](rank_of_locks& r) {
               const reservation lock = common(r, b);
               if (r.job.rank == 0) {
                 // Always held, and somebody always waits for it here.
                 (void)r.job.events.wait(r.locks.acquire(lock));
                 b.words[9].store(1);
                 while (!got.load()) {
                   const occurrence next = r.locks.acquire(lock);
                   (void)r.job.runtime.poll();
                   r.locks.release(lock);
                   EXPECT_EQ(r.job.events.wait(next), state::triggered);
                 }
                 r.locks.release(lock);
               } else {
                 r.job.until([&] { return b.words[9].load() == 1; });
                 const hold mine = r.locks.lock(lock);
                 got.store(true);
               }
             },
             {.local_grants = 4});
}

TEST(reservation, destroyed_it_fails_those_behind_and_its_handle_for_ever) {
  board b;
  with_locks(3, backend::shm, core::threading::one, [&](rank_of_locks& r) {
    event::system& s = r.job.events;
    const reservation lock = common(r, b);
    if (r.job.rank == 2) {  // not its creator
      hold mine = r.locks.lock(lock);
      const occurrence gone = r.locks.destroy(lock);
      r.job.meet();
      EXPECT_FALSE(s.has_triggered(gone));
      mine.release();
      EXPECT_EQ(s.wait(gone), state::triggered);
      EXPECT_EQ(s.wait(r.locks.destroy(lock)), state::poisoned) << "twice";
    } else {
      r.job.meet();
    }
    r.job.settle();
    if (r.job.rank == 0) {
      EXPECT_THROW((void)r.locks.acquire(lock), error);
    } else {
      const occurrence never = r.locks.acquire(lock);
      EXPECT_EQ(s.wait(never), state::poisoned);
      EXPECT_EQ(r.locks.held(lock), 0u);
    }
  });
}

TEST(reservation, coroutines_hold_it_for_a_scope) {
  with_locks(1, backend::inproc, core::threading::one, [](rank_of_locks& r) {
    const reservation lock = r.locks.create();
    int inside = 0;
    int done = 0;
    const user_event go = r.job.events.create();
    const auto work = [&](event::system& s) -> event::activity {
      const hold mine = co_await r.locks.scoped(lock);
      EXPECT_EQ(inside++, 0);
      (void)co_await event::until(s, go);
      --inside;
      ++done;
      co_return !mine.poisoned();
    };
    std::vector<occurrence> all;
    for (int i = 0; i < 10; ++i) {
      all.push_back(work(r.job.events).done());
    }
    EXPECT_EQ(inside, 1);
    r.job.events.trigger(go);
    EXPECT_EQ(r.job.events.wait(r.job.events.merge(all)), state::triggered);
    EXPECT_EQ(done, 10);
    EXPECT_EQ(r.locks.held(lock), 0u);
  });
}

TEST(reservation, threads_of_two_ranks_share_it) {
  board b;
  with_locks(2, backend::shm, core::threading::many, [&](rank_of_locks& r) {
    const reservation lock = common(r, b);
    std::vector<std::thread> threads;
    std::atomic<int> over{0};
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          const hold mine = r.locks.lock(lock);
          ++b.plain;
        }
        over.fetch_add(1);
      });
    }
    r.job.until([&] { return over.load() == 3; });
    for (std::thread& t : threads) {
      t.join();
    }
    r.job.settle();
    EXPECT_EQ(b.plain, 2u * 3 * 200);
  });
}

TEST(reservation, is_in_the_report_of_a_hang) {
  with_locks(1, backend::inproc, core::threading::one, [](rank_of_locks& r) {
    const reservation lock = r.locks.create();
    (void)r.locks.acquire(lock);
    const occurrence e = r.locks.acquire(lock);
    EXPECT_NE(r.job.events.report().find("1 wait here, 1 hold it here"), std::string::npos);
    r.locks.release(lock);
    EXPECT_TRUE(r.job.events.has_triggered(e));
    r.locks.release(lock);
  });
}

}  // namespace
