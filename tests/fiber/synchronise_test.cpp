// SPDX-License-Identifier: BSD-3-Clause
// Mutex, condition variable and barrier, among fibers of several workers and threads.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sinew/base/clock.hpp"
#include "sinew/fiber/barrier.hpp"
#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/fibers.hpp"

namespace sinew::fiber {
namespace {

std::uint64_t in(std::uint64_t ns) { return static_cast<std::uint64_t>(now_ns()) + ns; }

class synchronise : public ::testing::TestWithParam<int> {
 protected:
  /// `fibers` fibers spread over the workers, and `threads` threads.
  void run(int fibers, int threads, const std::function<void(int)>& body) {
    test::crew crew;
    std::vector<std::thread> outside;
    std::atomic<int> left{threads};
    for (int i = 0; i < fibers; ++i) {
      crew.add([&body, i] { body(i); }, {.worker = i});
    }
    for (int i = 0; i < threads; ++i) {
      outside.emplace_back([&, i] {
        body(fibers + i);
        left.fetch_sub(1);
      });
    }
    crew.join();
    while (left.load() != 0) {  // a thread's join would stop this worker
      sleep_for(100'000);
    }
    for (auto& t : outside) {
      t.join();
    }
  }
  scheduler scheduler_{{.workers = GetParam()}};
};

INSTANTIATE_TEST_SUITE_P(workers, synchronise, ::testing::Values(1, 2, 3),
                         [](const auto& i) { return "workers" + std::to_string(i.param); });

TEST_P(synchronise, a_mutex_excludes) {
  mutex m;
  long count = 0;
  int inside = 0;
  run(8, 2, [&](int) {
    for (int i = 0; i < 500; ++i) {
      const std::lock_guard hold(m);
      EXPECT_EQ(++inside, 1);
      ++count;
      if (i % 16 == 0) {
        yield();
      }
      --inside;
    }
  });
  EXPECT_EQ(count, 10 * 500);
  EXPECT_TRUE(m.try_lock());
  EXPECT_FALSE(m.try_lock());
  m.unlock();
}

TEST_P(synchronise, a_mutex_is_handed_on_in_the_order_of_arrival) {
  mutex m;
  m.lock();
  std::vector<int> order;
  test::crew crew;
  for (int i = 0; i < 5; ++i) {
    crew.add(
        [&, i] {
          const std::lock_guard hold(m);
          order.push_back(i);
        },
        {.worker = 0});
    yield();
  }
  m.unlock();
  crew.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_P(synchronise, a_timed_lock_gives_up_and_leaves_nothing_behind) {
  mutex m;
  m.lock();
  run(4, 1, [&](int) {
    const std::int64_t start = now_ns();
    EXPECT_FALSE(m.try_lock_until(in(3'000'000)));
    EXPECT_GE(now_ns() - start, 3'000'000);
  });
  std::atomic<bool> waits{false};
  test::crew crew;
  crew.add(
      [&] {
        waits = true;
        EXPECT_TRUE(m.try_lock_until(in(20'000'000'000)));
        m.unlock();
      },
      {.worker = GetParam() - 1});
  while (!waits.load()) {
    yield();
  }
  sleep_for(1'000'000);
  m.unlock();
  crew.join();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST_P(synchronise, timed_locks_under_contention) {
  mutex m;
  int inside = 0;
  std::atomic<long> had{0};
  run(6, 2, [&](int who) {
    for (int i = 0; i < 100; ++i) {
      if (m.try_lock_until(in(static_cast<std::uint64_t>(who % 3) * 10'000))) {
        EXPECT_EQ(++inside, 1);
        had.fetch_add(1);
        if (i % 8 == 0) {
          sleep_for(5'000);
        }
        --inside;
        m.unlock();
      }
    }
  });
  EXPECT_GT(had.load(), 0);
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST_P(synchronise, a_queue_with_conditions_loses_nothing) {
  mutex m;
  condition_variable filled;
  condition_variable emptied;
  std::deque<int> queue;
  long sum = 0;
  constexpr int each = 300;
  run(8, 2, [&](int who) {
    for (int i = 1; i <= each; ++i) {
      const std::lock_guard hold(m);
      if (who % 2 == 0) {
        emptied.wait(m, [&] { return queue.size() < 3; });
        queue.push_back(i);
        filled.notify_one();
      } else {
        filled.wait(m, [&] { return !queue.empty(); });
        sum += queue.front();
        queue.pop_front();
        emptied.notify_one();
      }
    }
  });
  EXPECT_EQ(sum, 5L * each * (each + 1) / 2);
}

TEST_P(synchronise, a_timed_wait_ends_and_holds_the_mutex) {
  mutex m;
  condition_variable c;
  run(4, 1, [&](int) {
    const std::lock_guard hold(m);
    const std::int64_t start = now_ns();
    EXPECT_FALSE(c.wait_until(m, in(2'000'000)));
    EXPECT_GE(now_ns() - start, 2'000'000);
    EXPECT_FALSE(m.try_lock());
  });
}

TEST_P(synchronise, notify_all_wakes_all_once_each_notify_one_one) {
  mutex m;
  condition_variable c;
  int waiting = 0;
  std::atomic<int> woken{0};
  test::crew crew;
  for (int i = 0; i < 6; ++i) {
    crew.add(
        [&] {
          const std::lock_guard hold(m);
          ++waiting;
          c.wait(m);
          woken.fetch_add(1);
        },
        {.worker = i});
  }
  for (;;) {
    const std::lock_guard hold(m);
    if (waiting == 6) {
      break;
    }
    yield();
  }
  c.notify_one();
  while (woken.load() == 0) {
    yield();
  }
  sleep_for(2'000'000);
  EXPECT_EQ(woken.load(), 1);
  c.notify_all();
  crew.join();
  EXPECT_EQ(woken.load(), 6);
}

TEST_P(synchronise, a_barrier_holds_all_until_the_last) {
  constexpr int parties = 7;
  barrier b(parties);
  std::atomic<int> in_round{0};
  std::atomic<int> chosen{0};
  run(5, 2, [&](int) {
    for (int round = 1; round <= 50; ++round) {
      in_round.fetch_add(1);
      if (b.wait()) {
        chosen.fetch_add(1);
      }
      EXPECT_GE(in_round.load(), parties * round);
    }
  });
  EXPECT_EQ(in_round.load(), parties * 50);
  EXPECT_EQ(chosen.load(), 50);
}

TEST(sleeper, a_wait_can_be_called_off_and_the_sleeper_woken_later) {
  scheduler s({.workers = 2});
  for (int round = 0; round < 200; ++round) {
    std::atomic<std::uint32_t> call_off{0};
    std::atomic<fiber*> waits{nullptr};
    std::atomic<bool> went_on{false};
    sleeper* listed = nullptr;
    test::crew crew;
    crew.add(
        [&] {
          sleeper me("test");
          listed = &me;
          waits = self();
          EXPECT_FALSE(me.wait(no_deadline, &call_off));
          went_on = true;
          EXPECT_TRUE(me.wait());
        },
        {.worker = round % 2});
    while (waits.load() == nullptr) {
      yield();
    }
    call_off = 1;
    resume_from_handler(*waits.load());
    while (!went_on) {
      yield();
    }
    listed->wake();
    crew.join();
  }
}

TEST(slices, end_for_ready_fibers_and_for_timers) {
  scheduler s({.workers = 1});
  int ran = 0;
  test::crew crew;
  crew.add([&] { ++ran; });
  crew.add([&] {
    sleep_for(1'000'000);
    ++ran;
  });
  const int number = thread_running(*self());
  EXPECT_EQ(number, static_cast<int>(::syscall(SYS_gettid)));
  while (ran < 2) {
    end_slice();  // a fiber that never waits
  }
  crew.join();
}

}  // namespace
}  // namespace sinew::fiber
