// SPDX-License-Identifier: BSD-3-Clause
// When ranks that were bound by default are let go, and which of their threads.
#include "sinew/run/binding_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "sinew/base/affinity.hpp"
#include "sinew/base/topology.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t ms = 1'000'000;

class watch : public ::testing::Test {
 protected:
  /// Looks whenever it wants to until `end_ns`; true if a rank waits.
  bool looks_until(std::int64_t end_ns) {
    for (; now_ns_ < end_ns; now_ns_ += std::max(watch_.wait_ms(now_ns_), 1) * ms) {
      waited_ns_[1] = now_ns_ * share_percent_ / 100;
      if (watch_.look(now_ns_)) {
        return true;
      }
    }
    return false;
  }

  std::map<pid_t, std::int64_t> waited_ns_ = {{1, 0}, {2, 0}};
  std::int64_t now_ns_ = 7 * ms;
  std::int64_t share_percent_ = 0;
  binding_watch watch_{[this](pid_t pid) { return waited_ns_.at(pid); }};
};

TEST_F(watch, looks_at_nobody) {
  EXPECT_EQ(watch_.wait_ms(now_ns_), -1);
  EXPECT_FALSE(watch_.look(now_ns_));
}

TEST_F(watch, leaves_ranks_that_have_their_processors) {
  watch_.add(1, {0});
  watch_.add(2, {1});
  share_percent_ = 5;
  EXPECT_FALSE(looks_until(20'000 * ms));
  EXPECT_NE(watch_.wait_ms(now_ns_), -1);
  watch_.remove(1);
  watch_.remove(2);
  EXPECT_EQ(watch_.wait_ms(now_ns_), -1);
}

TEST_F(watch, sees_one_that_shares_its_processor) {
  watch_.add(1, {0});
  watch_.add(2, {1});
  share_percent_ = 50;
  EXPECT_TRUE(looks_until(200 * ms));
}

TEST_F(watch, sees_it_later_too) {
  watch_.add(1, {0});
  EXPECT_FALSE(looks_until(20'000 * ms));
  share_percent_ = 90;
  EXPECT_TRUE(looks_until(22'000 * ms));
}

TEST_F(watch, does_not_count_what_was_before_its_first_look) {
  watch_.add(2, {0});
  waited_ns_[2] = 5'000 * ms;
  EXPECT_FALSE(looks_until(5'000 * ms));
}

TEST(released, threads_are_those_that_the_program_has_not_bound_itself) {
  const std::vector<int> all = topology::usable_cpu_list();
  if (all.size() < 2) {
    GTEST_SKIP() << "needs two processors";
  }
  const std::vector<int> bound = {all[0]}, own = {all[1]};
  std::mutex lock;
  std::condition_variable changed;
  std::vector<pid_t> numbers;
  bool over = false;
  const auto wait = [&](const std::vector<int>& cpus) {
    ASSERT_TRUE(topology::bind_thread(0, cpus));
    std::unique_lock held(lock);
    numbers.push_back(::gettid());
    changed.notify_all();
    changed.wait(held, [&] { return over; });
  };
  std::thread first([&] { wait(bound); });
  {
    std::unique_lock held(lock);
    changed.wait(held, [&] { return numbers.size() == 1; });
  }
  std::thread second([&] { wait(own); });
  {
    std::unique_lock held(lock);
    changed.wait(held, [&] { return numbers.size() == 2; });
  }
  release_threads(::getpid(), bound, all);
  EXPECT_EQ(topology::cpus_of_thread(numbers[0]), all);
  EXPECT_EQ(topology::cpus_of_thread(numbers[1]), own);
  {
    const std::lock_guard held(lock);
    over = true;
  }
  changed.notify_all();
  first.join();
  second.join();
  EXPECT_TRUE(topology::cpus_of_thread(0x7ffffff0).empty());
  EXPECT_FALSE(topology::bind_thread(0x7ffffff0, all));
}

}  // namespace
}  // namespace sinew::tool
