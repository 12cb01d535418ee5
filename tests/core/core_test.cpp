// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <thread>
#include <vector>

#include "sinew/core/completion.hpp"
#include "sinew/core/group.hpp"
#include "sinew/core/pool.hpp"
#include "support/ids.hpp"
#include "support/job.hpp"

namespace sinew::core {
namespace {

struct flag_waiter : waiter {
  std::atomic<int> fired{0};
  flag_waiter() {
    fire = [](waiter& w) noexcept { static_cast<flag_waiter&>(w).fired.fetch_add(1); };
  }
};

TEST(completion, fires_what_is_attached_once) {
  completion c;
  flag_waiter w;
  ASSERT_FALSE(c.done());
  ASSERT_TRUE(c.attach(w));
  c.complete();
  EXPECT_TRUE(c.done());
  EXPECT_EQ(w.fired, 1);
}

TEST(completion, refuses_a_waiter_when_done) {
  completion c;
  flag_waiter w;
  c.complete_alone();
  EXPECT_FALSE(c.attach(w));
  EXPECT_EQ(w.fired, 0);
}

TEST(completion, detached_waiter_is_not_fired) {
  completion c;
  flag_waiter w;
  ASSERT_TRUE(c.attach(w));
  ASSERT_TRUE(c.detach(w));
  c.complete();
  EXPECT_EQ(w.fired, 0);
  EXPECT_FALSE(c.detach(w));
}

// A counter that several operations share: the way to wait for many.
TEST(completion, several_complete_a_counter) {
  struct count_down : waiter {
    std::atomic<int>* left = nullptr;
  };
  std::atomic<int> left{3};
  std::vector<completion> operations(3);
  std::vector<count_down> waiters(3);
  for (std::size_t i = 0; i < 3; ++i) {
    waiters[i].left = &left;
    waiters[i].fire = [](waiter& w) noexcept { static_cast<count_down&>(w).left->fetch_sub(1); };
    ASSERT_TRUE(operations[i].attach(waiters[i]));
  }
  for (auto& o : operations) {
    o.complete();
  }
  EXPECT_EQ(left, 0);
}

TEST(completion, race_of_attach_and_complete_fires_or_refuses) {
  for (int round = 0; round < 5000; ++round) {
    completion c;
    flag_waiter w;
    std::atomic<bool> go{false};
    std::thread completer([&] {
      while (!go.load()) {
      }
      c.complete();
    });
    go = true;
    const bool attached = c.attach(w);
    completer.join();
    ASSERT_EQ(w.fired, attached ? 1 : 0);
  }
}

struct pooled {
  pooled* pool_link = nullptr;
  int id = 0;
};

TEST(pool, reuses_the_last_returned_first) {
  pool<pooled> p(false);
  pooled* a = p.get();
  pooled* b = p.get();
  ASSERT_NE(a, b);
  p.put(a);
  p.put(b);
  EXPECT_EQ(p.get(), b);
  EXPECT_EQ(p.get(), a);
}

TEST(group, set_operations) {
  const group all = group::range(6);
  const std::vector<int> some{4, 1, 3};
  const group part = all.include(some);
  EXPECT_EQ(part.find(1), 1);
  EXPECT_EQ(part.find(0), undefined_rank);
  EXPECT_EQ(all.exclude(some).size(), 3);
  EXPECT_EQ(group::unite(part, all).size(), 6);
  EXPECT_EQ(group::unite(part, all)[0], 4);
  EXPECT_EQ(group::intersect(all, part)[0], 1);
  EXPECT_EQ(group::subtract(all, part)[0], 0);
  EXPECT_EQ(group::compare(part, all.include(some)), group::relation::identical);
  const std::vector<int> turned{1, 3, 4};
  EXPECT_EQ(group::compare(part, all.include(turned)), group::relation::similar);
  EXPECT_EQ(group::compare(part, all), group::relation::unequal);
  std::vector<int> where(3);
  const std::vector<int> ask{0, 1, 2};
  part.translate(ask, all, where);
  EXPECT_EQ(where, some);
}

}  // namespace
}  // namespace sinew::core
