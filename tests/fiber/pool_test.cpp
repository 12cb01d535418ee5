// SPDX-License-Identifier: BSD-3-Clause
// Pools: the order among fibers and tasklets of one, whose stacks they use, and their ends.
#include "sinew/fiber/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sinew/base/random.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/local.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::fiber {
namespace {

/// Work of a pool, as closures.
struct closures {
  explicit closures(pool& p) : of(p) {}
  ~closures() {
    for (fiber* f : fibers) {
      join(*f);
    }
  }
  fiber* add(int priority, std::function<void()> what, int worker = 0) {
    kept.push_back(std::make_unique<std::function<void()>>(std::move(what)));
    fiber* made = nullptr;
    const auto call = [](void* w) { (*static_cast<std::function<void()>*>(w))(); };
    EXPECT_TRUE(
        of.spawn(call, kept.back().get(), priority, &made, {.name = "pooled", .worker = worker})
            .done());
    fibers.push_back(made);
    return made;
  }
  pool& of;
  std::vector<std::unique_ptr<std::function<void()>>> kept;
  std::vector<fiber*> fibers;
};

struct note : tasklet {
  std::function<void()> what;
  explicit note(int priority, std::function<void()> w) : what(std::move(w)) {
    about.priority = priority;
    action = [](tasklet& t) {
      static_cast<note&>(t).what();
      t.done.complete();
    };
  }
};

TEST(pool, the_higher_priority_runs_first_and_equals_in_turn) {
  scheduler s({.workers = 1});
  std::string order;
  {
    pool p;
    closures all(p);
    for (const auto& [priority, letter] :
         std::vector<std::pair<int, char>>{{1, 'd'}, {5, 'a'}, {1, 'e'}, {3, 'c'}, {5, 'b'}}) {
      all.add(priority, [&order, c = letter] { order += c; });
    }
  }
  EXPECT_EQ(order, "abcde");
}

TEST(pool, the_order_holds_each_time_that_one_is_ready_again) {
  scheduler s({.workers = 1});
  std::string order;
  {
    pool p;
    closures all(p);
    for (const auto& [priority, letter] :
         std::vector<std::pair<int, char>>{{0, 'l'}, {2, 'h'}, {2, 'H'}, {1, 'm'}}) {
      all.add(priority, [&order, c = letter] {
        for (int i = 0; i < 3; ++i) {
          order += c;
          yield();
        }
      });
    }
  }
  EXPECT_EQ(order, "hHhHhHmmmlll");
}

TEST(pool, who_is_woken_goes_before_whoever_comes_after_it) {
  scheduler s({.workers = 1});
  std::string order;
  {
    pool p;
    closures all(p);
    fiber* const urgent = all.add(9, [&] {
      suspend();
      order += 'u';
    });
    all.add(1, [&order, urgent] {
      order += 'a';
      resume(*urgent);
      order += 'b';  // not interrupted
      yield();
      order += 'd';
    });
    all.add(1, [&] { order += 'c'; });
  }
  EXPECT_EQ(order, "abucd");
}

TEST(pool, an_order_of_the_programs_own) {
  scheduler s({.workers = 1});
  std::string order;
  int calls = 0;
  struct letters {
    static bool before(void* context, const work& a, const work& b) noexcept {
      ++*static_cast<int*>(context);
      return *static_cast<char*>(a.argument) < *static_cast<char*>(b.argument);
    }
  };
  std::string letters_of = "hfbeadcg";
  static std::string* to = nullptr;
  to = &order;
  {
    pool p({.order = letters::before, .context = &calls});
    for (char& c : letters_of) {
      ASSERT_TRUE(p.spawn([](void* own) { *to += *static_cast<char*>(own); }, &c, 0, nullptr,
                          {.detached = true})
                      .done());
    }
  }
  EXPECT_EQ(order, "abcdefgh");
  EXPECT_GE(calls, 7);
}

TEST(pool, tasklets_run_among_the_fibers_on_one_stack) {
  scheduler s({.workers = 1});
  std::string order;
  std::vector<fiber*> ran_on;
  pool p;
  std::vector<std::unique_ptr<note>> notes;
  {
    closures all(p);
    const auto post = [&](int priority, char c) {
      notes.push_back(std::make_unique<note>(priority, [&order, &ran_on, c] {
        order += c;
        ran_on.push_back(self());
      }));
      p.post(*notes.back());
    };
    post(2, 'c');
    all.add(3, [&] { order += 'b'; });
    post(4, 'a');
    all.add(1, [&] { order += 'd'; });
    post(0, 'e');
    for (const auto& n : notes) {
      wait(n->done);
    }
  }
  EXPECT_EQ(order, "abcde");
  ASSERT_EQ(ran_on.size(), 3U);
  EXPECT_EQ(ran_on[0], ran_on[1]);
  EXPECT_EQ(ran_on[1], ran_on[2]);
  EXPECT_EQ(name(*ran_on[0]), "pool");
}

TEST(pool, a_fiber_may_change_its_priority) {
  scheduler s({.workers = 1});
  EXPECT_FALSE(pool::set_priority(1)) << "the main fiber is in no pool";
  std::string order;
  {
    pool p;
    closures all(p);
    all.add(5, [&] {
      order += 'a';
      EXPECT_TRUE(pool::set_priority(0));
      yield();
      order += 'c';
    });
    all.add(3, [&] { order += 'b'; });
  }
  EXPECT_EQ(order, "abc");
}

TEST(pool, fibers_beside_it_have_their_turns) {
  scheduler s({.workers = 1});
  std::atomic<bool> stop{false};
  long turns = 0;
  pool p;
  closures all(p);
  all.add(1, [&] {
    while (!stop.load()) {
      yield();
    }
  });
  for (; turns < 100; ++turns) {
    yield();
  }
  stop.store(true);
  EXPECT_EQ(turns, 100);
}

/// All that may end a wait, from all workers and a thread, while pools come and go.
TEST(pool, many_of_all_kinds_on_three_workers) {
  scheduler s({.workers = 3});
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t round = 0; round < 20; ++round) {
    random_generator random(seed + round);
    pool p;
    mutex m;
    std::atomic<long> ends{0};
    std::vector<std::unique_ptr<note>> notes;
    for (int i = 0; i < 100; ++i) {
      notes.push_back(std::make_unique<note>(i % 7, [&] { ends.fetch_add(1); }));
    }
    std::thread outside([&] {
      for (const auto& n : notes) {
        p.post(*n);
      }
    });
    {
      closures all(p);
      for (int i = 0; i < 60; ++i) {
        const auto kind = random.below(3);
        all.add(
            i % 5,
            [&, kind] {
              for (int k = 0; k < 5; ++k) {
                m.lock();
                kind == 0 ? (void)yield() : sleep_for(kind * 1000);
                m.unlock();
              }
              ends.fetch_add(1);
            },
            i);
      }
    }
    for (const auto& n : notes) {
      wait(n->done);
    }
    EXPECT_EQ(ends.load(), 160) << "seed " << seed << " round " << round;
    outside.join();  // it has posted all
  }
}

TEST(pool, its_end_waits_for_all_also_for_what_follows_their_functions) {
  scheduler s({.workers = 2});
  static std::atomic<int> destroyed{0};
  destroyed.store(0);
  local_key key([](void*) {
    yield();  // a fiber like others by now
    destroyed.fetch_add(1);
  });
  std::atomic<int> ends{0};
  {
    pool p;
    for (int i = 0; i < 8; ++i) {
      struct both {
        local_key& key;
        std::atomic<int>& ends;
      };
      static both* with = nullptr;
      both now{key, ends};
      with = &now;
      fiber* made = nullptr;
      ASSERT_TRUE(p.spawn(
                       [](void*) {
                         (void)with->key.set(with);
                         sleep_for(100'000);
                         with->ends.fetch_add(1);
                       },
                       nullptr, i, &made, {.worker = i})
                      .done());
      join(*made);
    }
  }
  EXPECT_EQ(ends.load(), 8);
  EXPECT_EQ(destroyed.load(), 8);
}

}  // namespace
}  // namespace sinew::fiber
