// SPDX-License-Identifier: BSD-3-Clause
// Pools of sinew.h: the order, tasklets, and the codes.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "sinew.h"

namespace {

std::string& order() {
  static std::string one;
  return one;
}

void say(void* letter) { order() += *static_cast<char*>(letter); }

int smaller_letter(const sinew_work* a, const sinew_work* b) {
  return static_cast<int>(*static_cast<char*>(a->argument) < *static_cast<char*>(b->argument));
}

class c_pools : public testing::Test {
 protected:
  void SetUp() override {
    order().clear();
    const sinew_start_options how{1, 1};
    ASSERT_EQ(sinew_start(&how), SINEW_OK) << sinew_last_error();
  }
  void TearDown() override { ASSERT_EQ(sinew_stop(), SINEW_OK) << sinew_last_error(); }
};

TEST_F(c_pools, priorities_of_fibers_and_tasklets) {
  sinew_pool* pool = nullptr;
  ASSERT_EQ(sinew_pool_create(&pool, nullptr), SINEW_OK);
  char letters[] = "abcdef";
  const sinew_fiber_options detached{"low", 0, 0, 1};
  ASSERT_EQ(sinew_pool_fiber(nullptr, pool, 1, say, letters + 4, &detached), SINEW_OK);
  sinew_tasklet* high = nullptr;
  ASSERT_EQ(sinew_tasklet_create(&high, pool, 7, say, letters + 1, 1), SINEW_OK);
  ASSERT_EQ(sinew_tasklet_create(nullptr, pool, 2, say, letters + 3, 0), SINEW_OK);
  sinew_fiber* middle = nullptr;
  ASSERT_EQ(sinew_pool_fiber(&middle, pool, 4, say, letters + 2, nullptr), SINEW_OK);
  ASSERT_EQ(sinew_tasklet_create(nullptr, pool, 9, say, letters, 0), SINEW_OK);
  EXPECT_EQ(sinew_tasklet_join(high), SINEW_OK);
  EXPECT_EQ(sinew_fiber_join(middle), SINEW_OK);
  sinew_pool_destroy(pool);
  EXPECT_EQ(order(), "abcde");
}

TEST_F(c_pools, an_order_of_ones_own) {
  sinew_pool* pool = nullptr;
  const sinew_pool_options how{smaller_letter, 32768};
  ASSERT_EQ(sinew_pool_create(&pool, &how), SINEW_OK);
  char letters[] = "cadb";
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(sinew_tasklet_create(nullptr, pool, i, say, letters + i, 0), SINEW_OK);
  }
  sinew_pool_destroy(pool);
  EXPECT_EQ(order(), "abcd");
}

TEST_F(c_pools, a_fiber_changes_its_priority) {
  EXPECT_EQ(sinew_fiber_set_priority(1), SINEW_INVALID);
  EXPECT_STREQ(sinew_last_error(), "the caller is no fiber of a pool");
  sinew_pool* pool = nullptr;
  ASSERT_EQ(sinew_pool_create(&pool, nullptr), SINEW_OK);
  char letters[] = "ab";
  const sinew_fiber_options detached{"one", 0, 0, 1};
  ASSERT_EQ(sinew_pool_fiber(
                nullptr, pool, 9,
                [](void* own) {
                  EXPECT_EQ(sinew_fiber_set_priority(0), SINEW_OK);
                  sinew_fiber_yield();
                  say(own);
                },
                letters + 1, &detached),
            SINEW_OK);
  ASSERT_EQ(sinew_pool_fiber(nullptr, pool, 5, say, letters, &detached), SINEW_OK);
  sinew_pool_destroy(pool);
  EXPECT_EQ(order(), "ab");
}

TEST_F(c_pools, a_thread_may_fill_and_end_one) {
  sinew_pool* pool = nullptr;
  ASSERT_EQ(sinew_pool_create(&pool, nullptr), SINEW_OK);
  static std::atomic<int> count{0};
  count.store(0);
  std::atomic<bool> over{false};
  std::thread outside([&] {
    std::vector<sinew_tasklet*> all(50);
    for (sinew_tasklet*& t : all) {
      EXPECT_EQ(sinew_tasklet_create(
                    &t, pool, 0, [](void*) { count.fetch_add(1); }, nullptr, 0),
                SINEW_OK);
    }
    for (sinew_tasklet* t : all) {
      EXPECT_EQ(sinew_tasklet_join(t), SINEW_OK);
    }
    sinew_pool_destroy(pool);
    over.store(true);
  });
  while (!over.load()) {
    sinew_fiber_sleep(100'000);
  }
  outside.join();
  EXPECT_EQ(count.load(), 50);
}

TEST_F(c_pools, wrong_arguments) {
  EXPECT_EQ(sinew_pool_create(nullptr, nullptr), SINEW_INVALID);
  sinew_pool* pool = nullptr;
  const sinew_pool_options vast{nullptr, SIZE_MAX};
  EXPECT_EQ(sinew_pool_create(&pool, &vast), SINEW_NO_MEMORY);
  ASSERT_EQ(sinew_pool_create(&pool, nullptr), SINEW_OK);
  EXPECT_EQ(sinew_pool_fiber(nullptr, pool, 0, say, nullptr, nullptr), SINEW_INVALID);
  const sinew_fiber_options nowhere{nullptr, 0, 2, 1};
  EXPECT_EQ(sinew_pool_fiber(nullptr, pool, 0, say, nullptr, &nowhere), SINEW_INVALID);
  EXPECT_EQ(sinew_pool_fiber(nullptr, nullptr, 0, say, nullptr, nullptr), SINEW_INVALID);
  EXPECT_EQ(sinew_tasklet_create(nullptr, pool, 0, nullptr, nullptr, 0), SINEW_INVALID);
  EXPECT_EQ(sinew_tasklet_create(nullptr, pool, 0, say, nullptr, 2), SINEW_INVALID);
  EXPECT_EQ(sinew_tasklet_join(nullptr), SINEW_INVALID);
  sinew_pool_destroy(pool);
}

TEST(c_pools_alone, there_must_be_a_scheduler) {
  sinew_pool* pool = nullptr;
  EXPECT_EQ(sinew_pool_create(&pool, nullptr), SINEW_NOT_STARTED);
}

}  // namespace
