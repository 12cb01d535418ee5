// SPDX-License-Identifier: BSD-3-Clause
// Spawn, join, detach, yield, suspend, resume, sleep: the promises of fiber.hpp.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sinew/base/clock.hpp"
#include "sinew/base/completion.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/fibers.hpp"

namespace sinew::fiber {
namespace {

class fibers : public ::testing::TestWithParam<int> {
 protected:
  scheduler scheduler_{{.workers = GetParam()}};
};

INSTANTIATE_TEST_SUITE_P(workers, fibers, ::testing::Values(1, 2, 3),
                         [](const auto& i) { return "workers" + std::to_string(i.param); });

TEST_P(fibers, know_themselves) {
  EXPECT_EQ(scheduler::of_process(), &scheduler_);
  EXPECT_EQ(scheduler_.workers(), GetParam());
  EXPECT_EQ(scheduler::this_worker(), 0);
  ASSERT_NE(self(), nullptr);
  EXPECT_EQ(name(*self()), "main");
  fiber* seen = nullptr;
  int where = -1;
  test::crew crew;
  fiber* made = crew.add(
      [&] {
        seen = self();
        where = scheduler::this_worker();
        EXPECT_EQ(name(*self()), "a name of fift");
      },
      {.name = "a name of fift", .worker = GetParam() - 1});
  crew.join();
  EXPECT_EQ(seen, made);
  EXPECT_EQ(where, GetParam() - 1);
  std::thread([] {
    EXPECT_EQ(self(), nullptr);
    EXPECT_EQ(scheduler::this_worker(), -1);
  }).join();
}

TEST_P(fibers, names_are_cut_at_15_bytes) {
  test::crew crew;
  fiber* f = crew.add([] {}, {.name = "0123456789abcdefghij"});
  EXPECT_EQ(name(*f), "0123456789abcde");
}

TEST_P(fibers, do_not_run_before_the_spawner_waits_on_one_worker) {
  test::crew crew;
  bool ran = false;
  crew.add([&] { ran = true; }, {.worker = 0});
  EXPECT_FALSE(ran);
  yield();
  EXPECT_TRUE(ran);
}

TEST_P(fibers, take_turns) {
  std::vector<int> order;
  test::crew crew;
  for (int i = 0; i < 3; ++i) {
    crew.add(
        [&order, i] {
          for (int n = 0; n < 4; ++n) {
            order.push_back(i);
            yield();
          }
        },
        {.worker = 0});
  }
  crew.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST_P(fibers, know_whether_others_took_the_turn) {
  EXPECT_FALSE(yield()) << "there was nobody";
  bool ran = false;
  test::crew crew;
  crew.add([&] { ran = true; }, {.worker = 0});
  EXPECT_TRUE(yield());
  EXPECT_TRUE(ran);
}

TEST_P(fibers, a_signal_before_the_wait_is_kept) {
  test::crew crew;
  crew.add([] {
    resume(*self());
    suspend();
  });
  resume(*self());
  suspend();
}

TEST_P(fibers, wait_until_resumed) {
  test::crew crew;
  for (int w = 0; w < GetParam(); ++w) {
    std::atomic<int> got{0};
    std::atomic<bool> started{false};
    std::atomic<bool> stop{false};
    fiber* f = crew.add(
        [&] {
          started = true;
          while (!stop.load()) {
            suspend();
            got.fetch_add(1);
          }
        },
        {.worker = w});
    while (!started.load()) {
      yield();
    }
    for (int i = 1; i <= 1000; ++i) {
      const int before = got.load();
      resume(*f);
      while (got.load() == before) {
        yield();
      }
    }
    stop = true;
    resume(*f);
    crew.join();
    EXPECT_GE(got.load(), 1000);
  }
}

TEST_P(fibers, spurious_signals_wake_for_nothing) {
  bool ready = false;
  int looks = 0;
  test::crew crew;
  fiber* f = crew.add(
      [&] {
        while (!ready) {
          ++looks;
          suspend();
        }
      },
      {.worker = 0});
  for (int i = 0; i < 5; ++i) {
    yield();
    resume(*f);
    resume(*f);  // two signals, one bit
  }
  yield();
  EXPECT_EQ(looks, 6);
  ready = true;
  resume(*f);
}

TEST_P(fibers, a_signal_after_the_end_is_harmless) {
  test::crew crew;
  fiber* f = crew.add([] {});
  crew.join();
  for (int i = 0; i < 100; ++i) {
    resume(*f);
    int runs = 0;
    crew.add([&] { ++runs; });
    resume(*f);
    crew.join();
    EXPECT_EQ(runs, 1);
  }
}

TEST_P(fibers, are_joined_by_fibers_and_threads) {
  test::crew crew;
  std::atomic<int> ended_fibers{0};
  const auto work = [&] {
    for (int i = 0; i < 3; ++i) {
      yield();
    }
    ended_fibers.fetch_add(1);
  };
  crew.add([&] {
    test::crew inner;
    for (int i = 0; i < 10; ++i) {
      inner.add(work);
    }
    inner.join();
    EXPECT_GE(ended_fibers.load(), 10);
  });
  std::thread outside([&] {
    test::crew inner;
    for (int i = 0; i < 10; ++i) {
      inner.add(work);
    }
    inner.join();
  });
  std::atomic<bool> over{false};
  std::thread watch([&] {
    outside.join();
    over = true;
  });
  while (!over.load()) {
    yield();
  }
  watch.join();
  crew.join();
  EXPECT_EQ(ended_fibers.load(), 20);
}

TEST_P(fibers, may_be_detached_before_and_after_their_end) {
  std::atomic<int> ran{0};
  const auto work = [](void* p) { static_cast<std::atomic<int>*>(p)->fetch_add(1); };
  fiber* f = nullptr;
  ASSERT_TRUE(spawn(work, &ran, &f).done());
  detach(*f);
  ASSERT_TRUE(spawn(work, &ran, nullptr, {.detached = true}).done());
  ASSERT_TRUE(spawn(work, &ran, &f).done());
  while (!ended(*f)) {
    yield();
  }
  detach(*f);
  while (ran.load() != 3) {
    yield();
  }
}

TEST_P(fibers, reuse_stacks_last_in_first_out) {
  test::crew crew;
  fiber* first = crew.add([] {});
  crew.join();
  fiber* second = crew.add([] {});
  EXPECT_EQ(first, second);
}

TEST_P(fibers, wait_for_completions) {
  completion c;
  std::atomic<int> seen{0};
  test::crew crew;
  crew.add([&] {
    wait(c);
    seen.fetch_add(1);
  });
  completion for_thread;
  std::thread outside([&] {
    wait(for_thread);
    c.complete();
  });
  for (int i = 0; i < 10; ++i) {
    yield();
  }
  EXPECT_EQ(seen.load(), 0);
  for_thread.complete();
  crew.join();
  EXPECT_EQ(seen.load(), 1);
  wait(c);  // done: returns at once
  outside.join();
}

// Never too early. In order, unless the worker has been kept from them until several times were
// over; so one try of many must be.
TEST_P(fibers, sleep_in_the_order_of_their_times) {
  const std::vector<int> wanted{0, 1, 2, 3, 4};
  std::vector<int> order;
  for (int tries = 0; order != wanted && tries < 100; ++tries) {
    order.clear();
    test::crew crew;
    for (int i : {3, 1, 4, 2, 0}) {
      crew.add(
          [&order, i] {
            const std::int64_t time = i * std::int64_t{20'000'000};
            const std::int64_t start = now_ns();
            sleep_for(static_cast<std::uint64_t>(time));
            EXPECT_GE(now_ns() - start, time);
            order.push_back(i);
          },
          {.worker = 0});
    }
    crew.join();
  }
  EXPECT_EQ(order, wanted);
}

TEST_P(fibers, catch_their_own_exceptions) {
  int caught = 0;
  test::crew crew;
  for (int i = 0; i < 10; ++i) {
    crew.add(
        [&] {
          try {
            yield();
            throw std::runtime_error("x");
          } catch (const std::runtime_error&) {
            yield();
            ++caught;
          }
        },
        {.worker = 0});
  }
  crew.join();
  EXPECT_EQ(caught, 10);
}

TEST_P(fibers, are_reported_with_their_state) {
  test::crew crew;
  bool go = false;
  const auto block = [&] {
    while (!go) {
      suspend();
    }
  };
  fiber* waits = nullptr;
  std::function<void()> work = block;
  ASSERT_TRUE(spawn([](void* w) { (*static_cast<std::function<void()>*>(w))(); }, &work, &waits,
                    {.name = "waits", .worker = 0})
                  .done());
  crew.add([&] { join(*waits); }, {.name = "joins", .worker = 0});
  yield();
  crew.add([] {}, {.name = "new", .worker = 0});
  std::string all;
  const auto visit = [](void* text, const fiber& f, const char* state) {
    static_cast<std::string*>(text)->append(name(f)).append(":").append(state).append(" ");
  };
  scheduler_.each(visit, &all);
  EXPECT_EQ(all, "main:running waits:suspended joins:join new:ready ");
  go = true;
  resume(*waits);
  crew.join();  // they use what ends here
}

TEST(fibers_alone, thousands_of_each_stack_size) {
  scheduler s({.workers = 1});
  for (const std::size_t bytes : {4096, 8192, 65536, 1 << 20}) {
    int sum = 0;
    test::crew crew;
    for (int i = 0; i < 2000; ++i) {
      crew.add(
          [&sum] {
            yield();
            ++sum;
          },
          {.stack_bytes = bytes});
    }
    crew.join();
    EXPECT_EQ(sum, 2000);
  }
}

TEST(fibers_alone, schedulers_one_after_the_other) {
  for (int i = 0; i < 20; ++i) {
    scheduler s({.workers = 2});
    int ran = 0;
    ASSERT_TRUE(spawn([](void* p) { ++*static_cast<int*>(p); }, &ran, nullptr,
                      {.worker = 0, .detached = true})
                    .done());
    yield();
    EXPECT_EQ(ran, 1);
  }
  EXPECT_EQ(scheduler::of_process(), nullptr);
}

}  // namespace
}  // namespace sinew::fiber
