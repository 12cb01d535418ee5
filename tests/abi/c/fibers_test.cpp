// SPDX-License-Identifier: BSD-3-Clause
// sinew.h as a program uses it: its promises, its codes.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "sinew.h"

namespace {

/// A scheduler for the length of a test.
class fibers : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const sinew_start_options how{GetParam(), 1};
    ASSERT_EQ(sinew_start(&how), SINEW_OK) << sinew_last_error();
  }
  void TearDown() override { ASSERT_EQ(sinew_stop(), SINEW_OK) << sinew_last_error(); }

  static sinew_fiber* make(void (*entry)(void*), void* argument,
                           const sinew_fiber_options* how = nullptr) {
    sinew_fiber* made = nullptr;
    EXPECT_EQ(sinew_fiber_create(&made, entry, argument, how), SINEW_OK) << sinew_last_error();
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(workers, fibers, testing::Values(1, 2));

TEST(without_scheduler, says_so) {
  sinew_fiber* made = nullptr;
  EXPECT_EQ(sinew_fiber_create(&made, [](void*) {}, nullptr, nullptr), SINEW_NOT_STARTED);
  EXPECT_STREQ(sinew_last_error(), sinew_error_text(SINEW_NOT_STARTED));
  EXPECT_EQ(sinew_stop(), SINEW_NOT_STARTED);
  EXPECT_EQ(sinew_workers(), 0);
  EXPECT_EQ(sinew_this_worker(), -1);
  EXPECT_EQ(sinew_fiber_self(), nullptr);
  EXPECT_STREQ(sinew_version(), SINEW_H_VERSION);
}

TEST(error_text, has_a_sentence_for_each_code) {
  for (int code = SINEW_OK; code <= SINEW_CLOSED; ++code) {
    EXPECT_STRNE(sinew_error_text(code), sinew_error_text(-1)) << code;
  }
}

TEST_P(fibers, refuse_what_makes_no_sense) {
  EXPECT_EQ(sinew_start(nullptr), SINEW_BUSY);
  EXPECT_EQ(sinew_workers(), GetParam());
  EXPECT_EQ(sinew_this_worker(), 0);
  sinew_fiber* made = nullptr;
  EXPECT_EQ(sinew_fiber_create(&made, nullptr, nullptr, nullptr), SINEW_INVALID);
  EXPECT_EQ(sinew_fiber_create(nullptr, [](void*) {}, nullptr, nullptr), SINEW_INVALID);
  const sinew_fiber_options elsewhere{nullptr, 0, GetParam() + 1, 0};
  EXPECT_EQ(sinew_fiber_create(&made, [](void*) {}, nullptr, &elsewhere), SINEW_INVALID);
  EXPECT_EQ(sinew_fiber_join(nullptr), SINEW_INVALID);
  EXPECT_EQ(sinew_fiber_join(sinew_fiber_self()), SINEW_INVALID);
  sinew_barrier barrier;
  EXPECT_EQ(sinew_barrier_init(&barrier, 0), SINEW_INVALID);
}

TEST_P(fibers, only_the_starter_stops) {
  int code = SINEW_OK;
  sinew_fiber_join(make([](void* to) { *static_cast<int*>(to) = sinew_stop(); }, &code));
  EXPECT_EQ(code, SINEW_WRONG_CALLER);
}

TEST_P(fibers, have_names_and_workers) {
  struct seen {
    char name[32];
    int worker;
  } there{};
  const sinew_fiber_options how{"painter", 32768, GetParam(), 0};
  sinew_fiber_join(make(
      [](void* to) {
        auto* s = static_cast<seen*>(to);
        std::strcpy(s->name, sinew_fiber_name(sinew_fiber_self()));
        s->worker = sinew_this_worker();
      },
      &there, &how));
  EXPECT_STREQ(there.name, "painter");
  EXPECT_EQ(there.worker, GetParam() - 1);
}

TEST_P(fibers, exclude_each_other) {
  static sinew_mutex mutex = SINEW_MUTEX_INITIALIZER;
  static long value;
  value = 0;
  const auto body = [](void*) {
    for (int i = 0; i < 1000; ++i) {
      sinew_mutex_lock(&mutex);
      const long before = value;
      if (i % 100 == 0) {
        sinew_fiber_yield();
      }
      value = before + 1;
      sinew_mutex_unlock(&mutex);
    }
  };
  std::vector<sinew_fiber*> all;
  for (int i = 0; i < 20; ++i) {
    const sinew_fiber_options how{nullptr, 0, 1 + i % GetParam(), 0};
    all.push_back(make(body, nullptr, &how));
  }
  std::thread thread(body, nullptr);  // a thread takes part, too
  for (sinew_fiber* each : all) {
    EXPECT_EQ(sinew_fiber_join(each), SINEW_OK);
  }
  thread.join();
  EXPECT_EQ(value, 21'000);
  EXPECT_EQ(sinew_mutex_trylock(&mutex), SINEW_OK);
  EXPECT_EQ(sinew_mutex_trylock(&mutex), SINEW_BUSY);
  sinew_mutex_unlock(&mutex);
}

TEST_P(fibers, wait_for_each_other) {
  struct shared {
    sinew_mutex mutex = SINEW_MUTEX_INITIALIZER;
    sinew_condition changed = SINEW_CONDITION_INITIALIZER;
    sinew_barrier barrier;
    int turn = 0;
    std::atomic<int> first{0};
    std::atomic<int> next{0};
  } s;
  ASSERT_EQ(sinew_barrier_init(&s.barrier, 5), SINEW_OK);
  const auto body = [](void* to) {
    auto& with = *static_cast<shared*>(to);
    const int me = with.next++;
    for (int round = 0; round < 20; ++round) {
      sinew_mutex_lock(&with.mutex);
      while (with.turn % 5 != me) {
        sinew_condition_wait(&with.changed, &with.mutex);
      }
      ++with.turn;
      sinew_condition_broadcast(&with.changed);
      sinew_mutex_unlock(&with.mutex);
      with.first += sinew_barrier_wait(&with.barrier);
    }
  };
  std::vector<sinew_fiber*> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(make(body, &s));
  }
  for (sinew_fiber* each : all) {
    sinew_fiber_join(each);
  }
  EXPECT_EQ(s.turn, 100);
  EXPECT_EQ(s.first, 20);
  sinew_mutex_lock(&s.mutex);
  EXPECT_EQ(sinew_condition_wait_for(&s.changed, &s.mutex, 1'000'000), SINEW_TIMED_OUT);
  EXPECT_EQ(sinew_mutex_trylock(&s.mutex), SINEW_BUSY) << "a wait that times out holds it too";
  sinew_mutex_unlock(&s.mutex);
  sinew_barrier_destroy(&s.barrier);
}

TEST_P(fibers, have_values_of_their_own) {
  static sinew_key* key;
  static std::atomic<int> destroyed;
  destroyed = 0;
  ASSERT_EQ(sinew_key_create(&key, [](void* value) { destroyed += *static_cast<int*>(value); }),
            SINEW_OK);
  int one = 1;
  std::vector<sinew_fiber*> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(make(
        [](void* value) {
          EXPECT_EQ(sinew_key_get(key), nullptr);
          EXPECT_EQ(sinew_key_set(key, value), SINEW_OK);
          sinew_fiber_sleep(100'000);
          EXPECT_EQ(sinew_key_get(key), value);
        },
        &one));
  }
  for (sinew_fiber* each : all) {
    sinew_fiber_join(each);
  }
  EXPECT_EQ(destroyed, 10);
  EXPECT_EQ(sinew_key_get(key), nullptr);
  sinew_key_delete(key);
}

TEST_P(fibers, may_be_detached) {
  static std::atomic<int> ended;
  ended = 0;
  const auto body = [](void*) { ++ended; };
  const sinew_fiber_options how{nullptr, 0, 0, 1};
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(sinew_fiber_create(nullptr, body, nullptr, &how), SINEW_OK);
    EXPECT_EQ(sinew_fiber_detach(make(body, nullptr)), SINEW_OK);
  }
  while (ended != 200) {
    sinew_fiber_yield();
  }
}

}  // namespace
