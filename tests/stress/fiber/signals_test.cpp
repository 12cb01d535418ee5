// SPDX-License-Identifier: BSD-3-Clause
// Many fibers, many signals, several workers and threads, in an order that a seed chooses.
// SINEW_TEST_SEED repeats a run; SINEW_TEST_LONG=1 makes it ten times as long.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "sinew/base/clock.hpp"
#include "sinew/base/random.hpp"
#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/fibers.hpp"

namespace sinew::fiber {
namespace {

#if defined(SINEW_TSAN)
constexpr int shrink = 50;
constexpr int most_fibers = 2000;  // the sanitizer's own limit is 8,128 contexts
#elif defined(SINEW_ASAN)
constexpr int shrink = 10;
constexpr int most_fibers = 10'000;
#else
constexpr int shrink = 1;
constexpr int most_fibers = 100'000;
#endif

long effort() {
  const char* wanted = std::getenv("SINEW_TEST_LONG");
  return wanted != nullptr && *wanted == '1' ? 10 : 1;
}

TEST(stress, a_hundred_thousand_fibers) {
  std::atomic<long> sum{0};
  for (const int workers : {1, 2}) {
    scheduler s({.workers = workers});
    struct one {
      std::atomic<long>* sum;
      fiber* f;
    };
    std::vector<one> all(most_fibers, one{&sum, nullptr});
    for (int i = 0; i < most_fibers; ++i) {
      one& each = all[static_cast<std::size_t>(i)];
      ASSERT_TRUE(spawn(
                      [](void* p) {
                        for (int n = 0; n < 3; ++n) {
                          yield();
                        }
                        static_cast<one*>(p)->sum->fetch_add(1);
                      },
                      &each, &each.f, {.stack_bytes = 4096, .worker = i})
                      .done());
    }
    for (const one& each : all) {
      join(*each.f);
    }
  }
  EXPECT_EQ(sum.load(), 2L * most_fibers);
}

/// Each signal is one token for one fiber: a lost signal leaves a token untaken, and the run hangs.
TEST(stress, no_signal_is_lost) {
  const std::uint64_t seed = seed_from_environment();
  const long each_sends = 1'000'000 / shrink * effort();
  constexpr int senders = 10;
  constexpr int receivers = 700;  // more than one line of signals
  scheduler s({.workers = 2});
  struct box {
    std::atomic<long> tokens{0};
    long taken = 0;
    fiber* f = nullptr;
  };
  std::vector<std::unique_ptr<box>> boxes;
  std::atomic<bool> stop{false};
  std::atomic<long> taken{0};
  test::crew crew;
  for (int i = 0; i < receivers; ++i) {
    boxes.push_back(std::make_unique<box>());
    box& mine = *boxes.back();
    mine.f = crew.add(
        [&mine, &stop, &taken] {
          for (;;) {
            const long got = mine.tokens.exchange(0, std::memory_order_relaxed);
            if (got != 0) {
              mine.taken += got;
              taken.fetch_add(got, std::memory_order_relaxed);
            } else if (stop.load(std::memory_order_relaxed)) {
              return;
            } else {
              suspend();
            }
          }
        },
        {.worker = i});
  }
  const auto send = [&](int who) {
    random_generator random(seed * 31 + static_cast<std::uint64_t>(who));
    for (long n = 0; n < each_sends; ++n) {
      box& to = *boxes[random.below(receivers)];
      to.tokens.fetch_add(1, std::memory_order_relaxed);
      resume(*to.f);
      if (random.below(50) == 0) {
        yield();
      }
      if (random.below(200'000) == 0) {
        sleep_for(3'000'000);  // so that workers go to sleep
      }
    }
  };
  test::crew sending;
  for (int i = 0; i < senders - 2; ++i) {
    sending.add([&, i] { send(i); }, {.worker = i});
  }
  std::thread first([&] { send(98); });
  std::thread second([&] { send(99); });
  sending.join();
  const std::int64_t limit = now_ns() + 200'000'000'000;
  while (taken.load() != senders * each_sends && now_ns() < limit) {
    sleep_for(1'000'000);
  }
  EXPECT_EQ(taken.load(), senders * each_sends) << "signals were lost";
  stop = true;
  for (const auto& b : boxes) {
    resume(*b->f);
  }
  crew.join();
  first.join();
  second.join();
}

/// Spawn, join, detach and end from everywhere, stacks going round between workers and threads.
TEST(stress, fibers_come_and_go_everywhere) {
  const std::uint64_t seed = seed_from_environment();
  const int rounds = static_cast<int>(20'000 / shrink * effort());
  for (const bool steal : {false, true}) {
    std::atomic<long> ended_count{0};
    long made = 0;
    {
      scheduler s({.workers = 2, .steal = steal});
      std::atomic<long> made_count{0};
      const auto churn = [&](int who) {
        random_generator random(seed * 77 + static_cast<std::uint64_t>(who));
        std::vector<fiber*> mine;
        for (int n = 0; n < rounds; ++n) {
          const std::uint64_t what = random.below(10);
          if (what < 6 && mine.size() < 100) {
            fiber* f = nullptr;
            const int where = static_cast<int>(random.below(3)) - 1;
            const bool forget = random.with_probability(0.3);
            const status got = spawn(
                [](void* p) {
                  yield();
                  static_cast<std::atomic<long>*>(p)->fetch_add(1);
                },
                &ended_count, &f,
                {.stack_bytes = random.with_probability(0.5) ? 8192u : 32768u,
                 .worker = where,
                 .detached = forget});
            ASSERT_TRUE(got.done());
            made_count.fetch_add(1);
            if (!forget) {
              mine.push_back(f);
            }
          } else if (what < 8 && !mine.empty()) {
            random.with_probability(0.7) ? join(*mine.back()) : detach(*mine.back());
            mine.pop_back();
          } else {
            yield();
          }
        }
        for (fiber* f : mine) {
          join(*f);
        }
      };
      std::atomic<bool> outside_done{false};
      std::thread outside([&] {
        churn(100);
        outside_done = true;
      });
      {
        test::crew crew;
        for (int i = 0; i < 6; ++i) {
          crew.add([&, i] { churn(i); }, {.worker = i});
        }
      }
      while (!outside_done.load()) {
        sleep_for(100'000);  // it needs this worker
      }
      outside.join();
      while (ended_count.load() != made_count.load()) {
        sleep_for(100'000);
      }
      made = made_count.load();
    }
    EXPECT_EQ(ended_count.load(), made);
  }
}

/// One token goes round among fibers and threads under a mutex, with timed waits in between.
TEST(stress, conditions_with_deadlines) {
  const std::uint64_t seed = seed_from_environment();
  const long passes = 100'000 / shrink * effort();
  scheduler s({.workers = 2});
  mutex m;
  condition_variable changed;
  long token = 0;
  constexpr int parties = 8;
  const auto body = [&](int who) {
    random_generator random(seed * 13 + static_cast<std::uint64_t>(who));
    m.lock();
    while (token < passes) {
      if (token % parties == who) {
        ++token;
        changed.notify_all();
      } else if (random.with_probability(0.2)) {
        (void)changed.wait_until(m, static_cast<std::uint64_t>(now_ns()) + random.below(50'000));
      } else {
        changed.wait(m);
      }
    }
    m.unlock();
  };
  std::thread outside([&] { body(parties - 1); });
  test::crew crew;
  for (int i = 0; i < parties - 1; ++i) {
    crew.add([&, i] { body(i); }, {.worker = i});
  }
  crew.join();
  outside.join();
  EXPECT_EQ(token, passes);
}

}  // namespace
}  // namespace sinew::fiber
