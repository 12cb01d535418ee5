// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sim/simulator.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "sim/world.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/random.hpp"

namespace sinew::sim {
namespace {

using fabric::arrival;
using fabric::endpoint;

constexpr const char* line_of_four =
    "mesh:4,send=7,receive=5,latency=1000,hop=10,rate=1,injection=1,gap=0";

/// Sleeps until `count` messages have come.
struct counter {
  int count = 0;
  std::vector<int> sources;
  static status take(void* self, const arrival& m) noexcept {
    auto& me = *static_cast<counter*>(self);
    ++me.count;
    me.sources.push_back(m.source.value());
    return status::ok();
  }
  void await(endpoint& e, int wanted) const {
    while (count < wanted) {
      if (e.progress(16) == 0) {
        e.sleep(UINT64_MAX);
      }
    }
  }
};

void send(endpoint& from, int to, std::size_t size) {
  const std::vector<std::byte> data(size);
  while (from.send_medium(job_rank{to}, 1, {}, data.data(), size).retry()) {
    from.sleep(UINT64_MAX);
  }
}

template <class Work>
totals run(int ranks, const std::string& network, choices how, const Work& work) {
  how.patience_ns = 60 * second_ns;  // ranks are threads here: what one waits for cannot be seen
  test::world world(ranks, network, how);
  world.serve();
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      const std::unique_ptr<endpoint> own = world.rank(r);
      counter got;
      own->set_handler(1, &counter::take, &got);
      work(*own, got);
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  return world.finish();
}

void ping_pong(endpoint& e, counter& got) {
  for (int i = 1; i <= 3; ++i) {
    if (e.rank() == 0) {
      send(e, 1, 100);
    }
    got.await(e, i);
    if (e.rank() == 1) {
      send(e, 0, 100);
    }
  }
}

TEST(simulator, a_ping_pong_lasts_as_long_as_the_model_says) {
  const totals all = run(2, line_of_four, {}, ping_pong);
  EXPECT_EQ(all.messages, 6U);
  EXPECT_EQ(all.bytes, 600U);
  // Each trip: the sender's time, latency, a hop, 116 bytes with their header; then the receiver's
  // time, which the last one does not wait for. A reading of the clock in each sleep is 20 ns.
  constexpr std::int64_t trip = 7 + 1000 + 10 + 116;
  EXPECT_GE(all.virtual_ns, 6 * trip + 5 * 5);
  EXPECT_LE(all.virtual_ns, 6 * trip + 5 * 5 + 6 * 40);
  EXPECT_TRUE(all.whole);
}

TEST(simulator, waits_are_added_up) {
  const totals all = run(2, line_of_four, {}, ping_pong);
  ASSERT_EQ(all.waits.size(), 1U);
  EXPECT_EQ(all.waits[0].call, "other waits") << "nobody has named what these threads do";
  // One of the two always waits for the other one's message.
  EXPECT_GE(all.waits[0].ns, 6 * (1000 + 10 + 116));
  EXPECT_LE(all.waits[0].ns, 2 * all.virtual_ns);
  const totals none =
      run(1, line_of_four, {}, [](endpoint& e, counter& /*got*/) { (void)e.progress(1); });
  EXPECT_TRUE(none.waits.empty());
}

/// Everybody sends to random others, who wait for as many as come.
void random_traffic(endpoint& e, counter& got) {
  constexpr int rounds = 40;
  random_generator random(7 + static_cast<std::uint64_t>(e.rank().value()));
  for (int i = 0; i < rounds; ++i) {
    send(e, static_cast<int>(random.below(static_cast<std::uint64_t>(e.size()))),
         random.below(3000));
    (void)e.progress(1 + static_cast<int>(random.below(4)));
  }
  for (int r = 0; r < e.size(); ++r) {
    send(e, r, 0);
  }
  got.await(e, e.size());
}

TEST(simulator, the_same_seed_gives_the_same_run) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    const totals first = run(4, line_of_four, {.seed = seed}, random_traffic);
    for (int again = 0; again < 3; ++again) {
      const totals next = run(4, line_of_four, {.seed = seed}, random_traffic);
      EXPECT_EQ(first.digest, next.digest) << "seed " << seed;
      EXPECT_EQ(first.virtual_ns, next.virtual_ns);
      EXPECT_EQ(first.messages, next.messages);
    }
  }
  EXPECT_NE(run(4, line_of_four, {.seed = 1}, random_traffic).digest,
            run(4, line_of_four, {.seed = 2}, random_traffic).digest);
}

TEST(simulator, seeds_change_who_comes_first) {
  std::atomic<bool> seen[4] = {};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    (void)run(4, "fattree:1;4;1;1", {.seed = seed}, [&](endpoint& e, counter& got) {
      if (e.rank() == 0) {
        got.await(e, 3);
        seen[got.sources.front()].store(true);
      } else {
        send(e, 0, 8);
      }
    });
  }
  EXPECT_TRUE(seen[1].load() && seen[2].load() && seen[3].load());
}

TEST(simulator, what_ranks_wait_for_in_vain_takes_no_time) {
  const totals all = run(2, line_of_four, {}, [](endpoint& e, counter& got) {
    if (e.rank() == 0) {
      send(e, 1, 8);
    }
    while (e.rank() == 1 && got.count == 0) {
      if (e.progress(16) == 0) {
        e.sleep(second_ns);
      }
    }
  });
  EXPECT_LT(all.virtual_ns, 100'000);
}

TEST(simulator, ranks_that_have_left_come_back_together) {
  std::uint64_t digest = 0;
  for (int last = 0; last < 3; ++last) {
    std::barrier<> fence(3);
    const totals all = run(3, line_of_four, {}, [&](endpoint& e, counter& got) {
      send(e, (e.rank().value() + 1) % 3, 8);
      got.await(e, 1);
      e.leave();
      fence.arrive_and_wait();
      if (e.rank() == job_rank{last}) {
        sleep_ns(20'000'000);  // what comes meanwhile is kept for it
      }
      send(e, (e.rank().value() + 1) % 3, 8);
      got.await(e, 2);
    });
    EXPECT_EQ(all.messages, 6U);
    digest = last == 0 ? all.digest : digest;
    EXPECT_EQ(all.digest, digest) << "rank " << last << " comes back last";
  }
}

TEST(simulator, a_deadlock_is_found_at_once) {
  std::atomic<int> asked{0};
  const totals all = run(3, line_of_four, {}, [&](endpoint& e, counter& got) {
    while (got.count == 0 && !e.knows_deadlock()) {
      if (e.progress(4) == 0) {
        e.sleep(UINT64_MAX);
      }
    }
    asked.fetch_add(e.knows_deadlock() ? 1 : 0);
  });
  EXPECT_EQ(asked.load(), 3);
  EXPECT_TRUE(all.deadlock);
}

// Rank 2 posts, sends, and dies in its turn: the notice and its message come before its death is
// known, whenever the process's end is told.
TEST(simulator, a_death_is_known_after_what_came_before) {
  std::uint64_t digest = 0;
  for (const int later_ms : {0, 30, 5}) {
    test::world world(3, line_of_four, {.seed = 3, .survive = true});
    const pid_t child = ::fork();
    if (child == 0) {
      const std::unique_ptr<endpoint> own = world.rank(2);
      own->notices()->post({{5, 6}});
      send(*own, 0, 8);
      ::raise(SIGKILL);
    }
    std::vector<int> seen;
    std::atomic<bool> dead{false};
    world.serve({.on_death =
                     [&](int rank) {
                       seen.push_back(rank);
                       dead.store(true);
                     },
                 .on_notice =
                     [&](int rank, const fabric::header& words) {
                       EXPECT_EQ(rank, 2);
                       seen.push_back(static_cast<int>(10 * words.word[0] + words.word[1]));
                     }});
    std::vector<std::thread> threads;
    for (int r = 0; r < 2; ++r) {
      threads.emplace_back([&, r] {
        const std::unique_ptr<endpoint> own = world.rank(r);
        counter got;
        own->set_handler(1, &counter::take, &got);
        while (!dead.load()) {
          if (own->progress(4) == 0) {
            own->sleep(UINT64_MAX);
          }
        }
        EXPECT_EQ(got.count, r == 0 ? 1 : 0);
        own->give_up(job_rank{2});
        for (int i = 0; i < 1000; ++i) {
          EXPECT_TRUE(own->send_medium(job_rank{2}, 1, {}, nullptr, 0).done());
        }
      });
    }
    ::waitpid(child, nullptr, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(later_ms));
    world.ended(2, true);
    for (std::thread& each : threads) {
      each.join();
    }
    const totals& all = world.finish();
    EXPECT_EQ(seen, (std::vector<int>{56, 2}));
    EXPECT_EQ(all.messages, 1U);
    EXPECT_FALSE(all.deadlock);
    digest = digest == 0 ? all.digest : digest;
    EXPECT_EQ(all.digest, digest);
  }
}

time_source& clock_of(endpoint& e) { return dynamic_cast<time_source&>(e); }

TEST(simulator, a_rank_that_sleeps_is_not_woken_by_messages) {
  const totals all = run(2, line_of_four, {}, [](endpoint& e, counter& got) {
    if (e.rank() == 0) {
      send(e, 1, 100);
      return;
    }
    const std::int64_t before = clock_of(e).now_ns();
    EXPECT_TRUE(clock_of(e).lets_caller_sleep());
    clock_of(e).sleep_ns(second_ns);
    EXPECT_GE(clock_of(e).now_ns() - before, second_ns);
    EXPECT_LE(clock_of(e).now_ns() - before, second_ns + 1000);
    got.await(e, 1);
  });
  EXPECT_TRUE(all.whole);
  EXPECT_GE(all.virtual_ns, second_ns);
  EXPECT_LE(all.steps, 20U);  // and not one for each 20 ns of the second
}

TEST(simulator, only_the_thread_that_has_opened_a_rank_lets_its_time_pass) {
  const totals all = run(2, line_of_four, {}, [](endpoint& e, counter& got) {
    if (e.rank() == 0) {
      std::thread([&] { EXPECT_FALSE(clock_of(e).lets_caller_sleep()); }).join();
      send(e, 1, 100);
      return;
    }
    // While one thread sleeps another one may look for messages: it does not hand over as well.
    std::atomic<bool> over{false};
    std::thread other([&] {
      while (!over.load()) {
        e.sleep(1000);
      }
    });
    for (int i = 0; i < 100; ++i) {
      if (clock_of(e).lets_caller_sleep()) {
        clock_of(e).sleep_ns(1000);
      }
    }
    over.store(true);
    other.join();
    got.await(e, 1);
  });
  EXPECT_TRUE(all.whole);
}

}  // namespace
}  // namespace sinew::sim
