// SPDX-License-Identifier: BSD-3-Clause
// Which threads of a process may do something by themselves.
#include "sinew/base/kernel_thread.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace sinew::base {
namespace {

/// A thread that has come so far as it will; until the scope ends.
class other_thread {
 public:
  explicit other_thread(std::function<void(other_thread& self)> run)
      : thread_([this, run = std::move(run)] { run(*this); }) {
    while (!here) {
      std::this_thread::yield();
    }
  }
  ~other_thread() {
    {
      const std::lock_guard held(lock_);
      over = true;
    }
    end_.notify_all();
    thread_.join();
  }
  other_thread(const other_thread&) = delete;
  other_thread& operator=(const other_thread&) = delete;

  std::atomic<bool> here{false};
  std::atomic<bool> over{false};

  void sleep() {
    std::unique_lock held(lock_);
    end_.wait(held, [this] { return over.load(); });
  }
  void nap() {
    std::unique_lock held(lock_);
    (void)end_.wait_for(held, std::chrono::hours(1), [this] { return over.load(); });
  }

 private:
  std::mutex lock_;
  std::condition_variable end_;
  std::thread thread_;
};

/// Until it is so: a thread may not sleep yet.
bool becomes(int threads) {
  while (threads_that_may_act() != threads) {
    std::this_thread::yield();
  }
  return true;
}

TEST(threads_that_may_act, one_that_runs) {
  const int before = threads_that_may_act();
  ASSERT_GE(before, 1);
  const other_thread runs([](other_thread& self) {
    self.here = true;
    while (!self.over) {
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(threads_that_may_act(), before + 1);
}

TEST(threads_that_may_act, one_of_our_own) {
  const int before = threads_that_may_act();
  const other_thread ours([](other_thread& self) {
    name_own_thread();
    self.here = true;
    while (!self.over) {
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(threads_that_may_act(), before);
}

TEST(threads_that_may_act, those_that_sleep_until_they_are_woken_do_not) {
  const int before = threads_that_may_act();
  const other_thread sleeps([](other_thread& self) {
    self.here = true;
    self.sleep();
  });
  EXPECT_TRUE(becomes(before));
  const other_thread joins([](other_thread& self) {
    std::thread inner([&self] {
      self.here = true;
      self.sleep();
    });
    inner.join();
  });
  EXPECT_TRUE(becomes(before));
}

TEST(threads_that_may_act, one_that_sleeps_for_a_time_does) {
  const int before = threads_that_may_act();
  const other_thread naps([](other_thread& self) {
    self.here = true;
    self.nap();
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(threads_that_may_act(), before + 1);
    std::this_thread::yield();
  }
}

TEST(threads_that_may_act, a_timer_may_wake_one) {
  const int before = threads_that_may_act();
  const other_thread sleeps([](other_thread& self) {
    self.here = true;
    self.sleep();
  });
  EXPECT_TRUE(becomes(before));
  const itimerval late{{0, 0}, {1000, 0}};
  const itimerval none{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &late, nullptr), 0);
  EXPECT_EQ(threads_that_may_act(), -1);
  ASSERT_EQ(::setitimer(ITIMER_REAL, &none, nullptr), 0);
}

}  // namespace
}  // namespace sinew::base
