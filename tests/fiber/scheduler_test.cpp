// SPDX-License-Identifier: BSD-3-Clause
// The poller, idle workers, stealing, and the bound on waiting.
#include "sinew/fiber/scheduler.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sinew/base/clock.hpp"
#include "sinew/base/completion.hpp"
#include "sinew/base/random.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/fiber/fiber.hpp"
#include "support/fibers.hpp"

namespace {
thread_local long processor_given_away = 0;
}

/// In place of the library's, to count.
extern "C" int sched_yield() noexcept {
  ++processor_given_away;
  return static_cast<int>(::syscall(SYS_sched_yield));
}

namespace sinew::fiber {
namespace {

/// Completes what it is given at the next poll, and sleeps as a doorbell does.
class mailbox final : public poller {
 public:
  int poll() noexcept override {
    EXPECT_EQ(inside_.fetch_add(1), 0) << "two workers in the poller";
    polls_.fetch_add(1);
    completion* c = posted_.exchange(nullptr);
    if (c != nullptr) {
      c->complete();
    }
    inside_.fetch_sub(1);
    return c != nullptr ? 1 : 0;
  }
  void sleep(std::uint64_t timeout_ns) noexcept override {
    EXPECT_EQ(inside_.fetch_add(1), 0);
    sleeps_.fetch_add(1);
    std::unique_lock hold(mutex_);
    rung_.wait_for(hold, std::chrono::nanoseconds(timeout_ns), [&] { return bell_; });
    bell_ = false;
    inside_.fetch_sub(1);
  }
  void wake() noexcept override {
    const std::lock_guard hold(mutex_);
    bell_ = true;
    rung_.notify_one();
  }
  void post(completion& c) {
    posted_.store(&c);
    wake();
  }
  [[nodiscard]] int polls() const { return polls_.load(); }
  [[nodiscard]] int sleeps() const { return sleeps_.load(); }

 private:
  std::atomic<completion*> posted_{nullptr};
  std::atomic<int> inside_{0};
  std::atomic<int> polls_{0};
  std::atomic<int> sleeps_{0};
  std::mutex mutex_;
  std::condition_variable rung_;
  bool bell_ = false;
};

class workers : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(count, workers, ::testing::Values(1, 2, 3),
                         [](const auto& i) { return "workers" + std::to_string(i.param); });

TEST_P(workers, a_waiting_fiber_is_woken_by_the_poller) {
  mailbox box;
  scheduler s({.workers = GetParam()});
  s.set_poller(&box);
  for (int i = 0; i < 200; ++i) {
    completion c;
    box.post(c);
    wait(c);
  }
  EXPECT_GE(box.polls(), 200);
  s.set_poller(nullptr);
  const int before = box.polls();
  for (int i = 0; i < 10'000; ++i) {
    yield();
  }
  sleep_for(1'000'000);
  EXPECT_EQ(box.polls(), before);
}

/// Time passes while it sleeps, and then at once.
class virtual_time final : public poller, public time_source {
 public:
  int poll() noexcept override {
    ++polls;
    return 0;
  }
  void sleep(std::uint64_t timeout_ns) noexcept override {
    ++sleeps;
    longest = std::max(longest, timeout_ns);
    now += static_cast<std::int64_t>(timeout_ns);
  }
  void wake() noexcept override {}
  [[nodiscard]] bool sleeps_at_once() noexcept override { return true; }
  [[nodiscard]] std::int64_t now_ns() noexcept override { return now; }
  void sleep_ns(std::int64_t length) noexcept override { now += length; }

  int polls = 0;
  int sleeps = 0;
  std::uint64_t longest = 0;
  std::int64_t now = 1;
};

TEST(virtual_workers, an_hour_passes_in_one_sleep_where_the_poller_lets_time_pass) {
  constexpr std::int64_t hour_ns = 3600 * second_ns;
  virtual_time clock;
  const time_from all(clock);
  scheduler s({.workers = 1});
  s.set_poller(&clock);
  std::string order;
  test::crew crew;
  for (const auto& [name, length] : {std::pair('b', 2 * hour_ns), std::pair('a', hour_ns)}) {
    crew.add([&order, name = name, length = length] {
      sleep_for(static_cast<std::uint64_t>(length));
      order += name;
    });
  }
  crew.join();
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(clock.now, 2 * hour_ns + 1);
  EXPECT_EQ(clock.longest, static_cast<std::uint64_t>(hour_ns));
  EXPECT_LE(clock.sleeps, 3);
  EXPECT_LE(clock.polls, 20);
  s.set_poller(nullptr);
}

TEST_P(workers, busy_fibers_do_not_keep_the_poller_waiting) {
  mailbox box;
  scheduler s({.workers = GetParam()});
  s.set_poller(&box);
  completion c;
  box.post(c);
  long yields = 0;
  while (!c.done()) {  // for ever, if nobody polls
    yield();
    ++yields;
  }
  if (GetParam() == 1) {
    EXPECT_LE(yields, 1000);
  }
  s.set_poller(nullptr);
}

TEST_P(workers, idle_workers_sleep_and_are_woken_by_signals) {
  mailbox box;
  scheduler s({.workers = GetParam()});
  s.set_poller(&box);
  std::atomic<int> got{0};
  std::atomic<bool> stop{false};
  test::crew crew;
  for (int w = 0; w < GetParam(); ++w) {
    fiber* f = crew.add(
        [&] {
          while (!stop.load()) {
            suspend();
            got.fetch_add(1);
          }
        },
        {.worker = w});
    completion done;
    std::thread outside([&] {
      for (int i = 0; i < 5 || box.sleeps() == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(8));  // all are asleep by now, mostly
        const int before = got.load();
        resume(*f);
        while (got.load() == before) {
          std::this_thread::yield();
        }
      }
      done.complete();
    });
    wait(done);
    outside.join();
    stop = true;
    resume(*f);
    crew.join();
    stop = false;
  }
  EXPECT_GE(got.load(), 5 * GetParam());
  EXPECT_GT(box.sleeps(), 0);
  s.set_poller(nullptr);
}

TEST_P(workers, a_poller_can_be_changed_at_any_time) {
  scheduler s({.workers = GetParam()});
  for (int i = 0; i < 100; ++i) {
    mailbox box;
    s.set_poller(&box);
    if (i % 3 == 0) {
      sleep_for(200'000);
    }
    s.set_poller(nullptr);
  }
}

// Whatever else runs on the machine may take a processor that is given away for milliseconds: so
// workers that sleep are no reason to.
TEST(crowds, a_busy_worker_keeps_its_processor_while_the_others_sleep) {
  scheduler s({.workers = topology::usable_cpus() + 1, .pin = false});
  const std::int64_t end = now_ns() + 100'000'000'000;
  long given = 0;
  do {  // until they sleep
    ::usleep(5000);
    given = processor_given_away;
    for (int i = 0; i < 10'000; ++i) {
      yield();
    }
    given = processor_given_away - given;
  } while (given != 0 && now_ns() < end);
  EXPECT_EQ(given, 0);
}

TEST(crowds, a_busy_worker_gives_way_while_others_want_processors) {
  scheduler s({.workers = topology::usable_cpus() + 1, .pin = false});
  std::atomic<bool> stop{false};
  std::atomic<int> running{0};
  test::crew crew;
  for (int w = 1; w < s.workers(); ++w) {
    crew.add(
        [&] {
          running.fetch_add(1);
          while (!stop.load()) {
            yield();
          }
        },
        {.worker = w});
  }
  while (running.load() < s.workers() - 1) {
    yield();
  }
  const long before = processor_given_away;
  for (int i = 0; i < 10'000; ++i) {
    yield();
  }
  EXPECT_GT(processor_given_away, before);
  stop = true;
}

TEST(stealing, an_idle_worker_takes_what_has_not_started) {
  scheduler s({.workers = 2, .steal = true});
  std::atomic<int> ran{0};
  std::atomic<int> elsewhere{0};
  test::crew crew;
  for (int i = 0; i < 200; ++i) {
    crew.add([&] {
      const int at = scheduler::this_worker();
      elsewhere.fetch_add(at == 1 ? 1 : 0);
      yield();
      EXPECT_EQ(scheduler::this_worker(), at) << "it moved after it had started";
      ran.fetch_add(1);
    });
  }
  while (ran.load() < 200) {  // this fiber does not give way: only the other worker can run them
  }
  crew.join();
  EXPECT_EQ(elsewhere.load(), 200);
}

TEST(stealing, leaves_fibers_that_were_given_a_worker) {
  scheduler s({.workers = 2, .steal = true});
  test::crew crew;
  for (int i = 0; i < 100; ++i) {
    crew.add([] { EXPECT_EQ(scheduler::this_worker(), 0); }, {.worker = 0});
  }
  sleep_for(2'000'000);
}

TEST(further_workers, run_only_what_names_them) {
  scheduler s({.workers = 2, .steal = true, .further = 2});
  EXPECT_EQ(s.workers(), 4);
  EXPECT_EQ(s.further_workers(), 2);
  std::array<std::atomic<int>, 4> ran{};
  test::crew crew;
  for (int i = 0; i < 200; ++i) {
    crew.add([&] { ++ran[static_cast<std::size_t>(scheduler::this_worker())]; });
    if (i % 10 == 0) {
      crew.add([&] { ++ran[static_cast<std::size_t>(scheduler::this_worker())]; }, {.worker = 3});
    }
  }
  std::thread outside([&] {  // in turn
    for (int i = 0; i < 20; ++i) {
      fiber* f = nullptr;
      const auto count = [](void* to) {
        ++(*static_cast<decltype(ran)*>(to))[static_cast<std::size_t>(scheduler::this_worker())];
      };
      ASSERT_TRUE(spawn(count, &ran, &f).done());
      join(*f);
    }
  });
  while (ran[0] + ran[1] + ran[3] < 240) {
    yield();
  }
  outside.join();
  crew.join();
  EXPECT_EQ(ran[2], 0);
  EXPECT_EQ(ran[3], 20);
}

TEST(stealing, loses_no_signal_to_a_fiber_that_is_being_taken) {
  scheduler s({.workers = 2, .steal = true});
  for (int i = 0; i < 3000; ++i) {
    std::atomic<bool> ready{false};
    test::crew crew;
    fiber* f = crew.add([&] {
      while (!ready.load(std::memory_order_relaxed)) {
        suspend();
      }
    });
    if (i % 2 == 0) {
      yield();
    }
    ready.store(true, std::memory_order_relaxed);
    resume(*f);
    crew.join();
  }
}

/// n fibers on one worker yield, wait and wake each other at random; nobody that is ready waits
/// for more than 2 (n - 1) turns of others.
TEST(fairness, waiting_is_bounded) {
  const std::uint64_t seed = seed_from_environment();
  for (const int n : {2, 3, 64, 65, 300, 5000}) {
    scheduler s({.workers = 1});
    random_generator random(seed + static_cast<std::uint64_t>(n));
    struct one {
      fiber* f = nullptr;
      std::uint64_t ready_since = 0;
      bool is_ready = true;
    };
    std::vector<one> all(static_cast<std::size_t>(n));
    std::uint64_t turns = 0;
    std::uint64_t longest = 0;
    bool stop = false;
    test::crew crew;
    const auto body = [&](one& me) {
      const auto my_turn = [&] {
        ++turns;
        if (me.is_ready && turns > me.ready_since) {
          longest = std::max(longest, turns - me.ready_since - 1);
        }
      };
      my_turn();
      while (!stop) {
        one& other = all[random.below(all.size())];
        if (!other.is_ready) {
          other.is_ready = true;
          other.ready_since = turns;
          resume(*other.f);
        }
        me.ready_since = turns;
        me.is_ready = random.with_probability(0.7);
        me.is_ready ? (void)yield() : suspend();
        my_turn();
        me.is_ready = true;
      }
    };
    for (one& each : all) {
      each.f = crew.add([&] { body(each); }, {.stack_bytes = 16384});
    }
    const std::uint64_t rounds = n > 1000 ? 20 : 300;
    while (turns < rounds * static_cast<std::uint64_t>(n)) {
      one& any = all[random.below(all.size())];  // they might all be waiting
      if (!any.is_ready) {
        any.is_ready = true;
        any.ready_since = turns;
        resume(*any.f);
      }
      yield();
    }
    stop = true;
    for (const one& each : all) {
      resume(*each.f);
    }
    crew.join();
    // The main fiber takes turns too, uncounted.
    EXPECT_LE(longest, 2 * static_cast<std::uint64_t>(n)) << n << " fibers";
  }
}

}  // namespace
}  // namespace sinew::fiber
