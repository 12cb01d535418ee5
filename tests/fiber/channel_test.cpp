// SPDX-License-Identifier: BSD-3-Clause
// Channels, semaphores, read-write locks, once and futures among fibers of several workers, with
// limits of time and cancellation. Seeded where order matters: SINEW_TEST_SEED.
#include "sinew/fiber/channel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "sinew/base/clock.hpp"
#include "sinew/base/random.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/future.hpp"
#include "sinew/fiber/once.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/fiber/semaphore.hpp"
#include "sinew/fiber/shared_mutex.hpp"
#include "support/fibers.hpp"

namespace sinew::fiber {
namespace {

std::uint64_t in_ms(std::uint64_t ms) {
  return static_cast<std::uint64_t>(now_ns()) + ms * 1'000'000;
}

class handing_over : public ::testing::TestWithParam<int> {
 protected:
  scheduler scheduler_{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, handing_over, ::testing::Values(1, 2, 3),
                         [](const auto& i) { return "workers" + std::to_string(i.param); });

TEST_P(handing_over, each_value_arrives_once_and_in_its_senders_order) {
  constexpr int senders = 6;
  constexpr int receivers = 5;
  constexpr int each = 500;
  for (const std::size_t capacity :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, channel::unbounded}) {
    channel_of<int> c(capacity);
    std::array<std::atomic<int>, senders> seen{};
    std::atomic<bool> in_order{true};
    std::atomic<int> left{senders};
    test::crew crew;
    for (int i = 0; i < senders; ++i) {
      crew.add(
          [&, i] {
            for (int k = 0; k < each; ++k) {
              EXPECT_EQ(c.send(i * each + k), waited::done);
            }
            if (left.fetch_sub(1) == 1) {
              EXPECT_TRUE(c.close());
            }
          },
          {.worker = i});
    }
    for (int i = 0; i < receivers; ++i) {
      crew.add(
          [&] {
            std::array<int, senders> last{};
            last.fill(-1);
            for (int value = 0; c.receive(value) == waited::done;) {
              const auto from = static_cast<std::size_t>(value / each);
              if (value % each <= last[from]) {
                in_order = false;
              }
              last[from] = value % each;
              ++seen[from];
            }
          },
          {.worker = i + 1});
    }
    crew.join();
    EXPECT_TRUE(in_order.load()) << capacity;
    for (const auto& count : seen) {
      EXPECT_EQ(count.load(), each) << capacity;
    }
  }
}

TEST_P(handing_over, a_select_does_exactly_one) {
  const char* given = std::getenv("SINEW_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20;
  SCOPED_TRACE("SINEW_TEST_SEED=" + std::to_string(seed));
  constexpr int parties = 6;
  constexpr int rounds = 300;
  channel_of<int> a(0);
  channel_of<int> b(2);
  std::atomic<int> sent{0};
  std::atomic<int> received{0};
  std::atomic<long> sum{0};
  test::crew crew;
  for (int i = 0; i < parties; ++i) {
    crew.add(
        [&, i] {
          random_generator random(seed + static_cast<std::uint64_t>(i));
          for (int k = 0; k < rounds; ++k) {
            int out = i * rounds + k + 1;
            int in = 0;
            const channel::choice all[] = {{&a.bytes(), true, &out},
                                           {&a.bytes(), false, &in},
                                           {&b.bytes(), true, &out},
                                           {&b.bytes(), false, &in}};
            const auto got = channel::select(all, 4, in_ms(1 + random.below(2)));
            if (got.how == waited::timed_out) {
              EXPECT_EQ(got.which, 4U);
              continue;
            }
            ASSERT_EQ(got.how, waited::done);
            ASSERT_LT(got.which, 4U);
            (got.which % 2 == 0 ? sent : received)++;
            sum += got.which % 2 == 0 ? out : -in;
          }
        },
        {.worker = i});
  }
  crew.join();
  for (int rest = 0; b.receive(rest, 0) == waited::done;) {
    ++received;
    sum -= rest;
  }
  EXPECT_EQ(sent.load(), received.load());
  EXPECT_EQ(sum.load(), 0);
}

TEST_P(handing_over, waits_end_by_deadline_close_and_cancel) {
  channel_of<int> c(1);
  semaphore none;
  future later;
  int value = 0;
  EXPECT_EQ(c.receive(value, 0), waited::timed_out);
  EXPECT_EQ(c.receive(value, in_ms(1)), waited::timed_out);
  EXPECT_EQ(c.send(1), waited::done);
  EXPECT_EQ(c.send(2, in_ms(1)), waited::timed_out);
  EXPECT_EQ(none.acquire(in_ms(1)), waited::timed_out);
  EXPECT_EQ(later.wait(in_ms(1)), waited::timed_out);
  std::atomic<int> ended{0};
  test::crew crew;
  const auto add = [&](auto work) { return crew.add(work, {.worker = GetParam() - 1}); };
  fiber* const waiting[] = {
      add([&] { ended += c.send(3) == waited::cancelled ? 1 : 0; }),
      add([&] { ended += none.acquire() == waited::cancelled ? 1 : 0; }),
      add([&] { ended += later.wait() == waited::cancelled ? 1 : 0; }),
  };
  sleep_for(1'000'000);
  for (fiber* each : waiting) {
    EXPECT_TRUE(cancel(*each));
  }
  crew.join();
  EXPECT_EQ(ended.load(), 3);
  EXPECT_TRUE(c.close());
  EXPECT_FALSE(c.close());
  EXPECT_EQ(c.send(4), waited::closed);
  EXPECT_EQ(c.receive(value), waited::done);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(c.receive(value), waited::closed);
}

TEST_P(handing_over, join_with_a_limit) {
  std::atomic<bool> go{false};
  fiber* f = nullptr;
  ASSERT_TRUE(spawn(
                  [](void* to) {
                    while (!static_cast<std::atomic<bool>*>(to)->load()) {
                      sleep_for(100'000);
                    }
                  },
                  &go, &f, {.worker = GetParam() - 1})
                  .done());
  EXPECT_EQ(join_until(*f, in_ms(1)), waited::timed_out);
  go = true;
  EXPECT_EQ(join_until(*f, in_ms(20'000)), waited::done);
}

TEST_P(handing_over, units_are_counted) {
  semaphore s(3);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  test::crew crew;
  for (int i = 0; i < 20; ++i) {
    crew.add(
        [&] {
          for (int k = 0; k < 100; ++k) {
            ASSERT_EQ(s.acquire(), waited::done);
            const int now = ++inside;
            int seen = most.load();
            while (now > seen && !most.compare_exchange_weak(seen, now)) {
            }
            yield();
            --inside;
            ASSERT_TRUE(s.release());
          }
        },
        {.worker = i});
  }
  crew.join();
  EXPECT_LE(most.load(), 3);
  EXPECT_EQ(s.units(), 3U);
  EXPECT_TRUE(s.try_acquire());
  EXPECT_FALSE(s.release(semaphore::most));
  EXPECT_EQ(s.units(), 2U);
}

TEST_P(handing_over, writers_exclude_readers_and_nobody_starves) {
  shared_mutex m;
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<int> wrong{0};
  long value = 0;
  test::crew crew;
  for (int i = 0; i < 12; ++i) {
    crew.add(
        [&, i] {
          for (int k = 0; k < 200; ++k) {
            if (i % 4 == 0) {
              m.lock();
              wrong += ++writers != 1 || readers.load() != 0 ? 1 : 0;
              ++value;
              yield();
              --writers;
              m.unlock();
            } else if (i % 4 != 1 || m.try_lock_shared_until(in_ms(1))) {
              if (i % 4 != 1) {
                m.lock_shared();
              }
              ++readers;
              wrong += writers.load() != 0 ? 1 : 0;
              yield();
              --readers;
              m.unlock_shared();
            }
          }
        },
        {.worker = i});
  }
  crew.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(value, 600);
  ASSERT_TRUE(m.try_lock());
  EXPECT_FALSE(m.try_lock_shared());
  EXPECT_FALSE(m.try_lock_until(in_ms(1)));
  EXPECT_FALSE(m.try_lock_shared_until(in_ms(1)));
  m.unlock();
  // A writer that gives up lets in the readers that it kept out.
  m.lock_shared();
  std::atomic<bool> read{false};
  crew.add([&] { EXPECT_FALSE(m.try_lock_until(in_ms(20))); });
  crew.add([&] {
    sleep_for(2'000'000);
    m.lock_shared();
    read = true;
    m.unlock_shared();
  });
  crew.join();
  EXPECT_TRUE(read.load());
  m.unlock_shared();
}

TEST_P(handing_over, once_and_futures) {
  once o;
  future f;
  std::atomic<int> calls{0};
  std::atomic<int> good{0};
  int answer = 42;
  test::crew crew;
  for (int i = 0; i < 10; ++i) {
    crew.add(
        [&] {
          o.call([&] {
            sleep_for(500'000);
            ++calls;
          });
          good += calls.load() == 1 ? 1 : 0;
          good += f.wait() == waited::done && f.value() == &answer ? 1 : 0;
        },
        {.worker = i});
  }
  sleep_for(1'000'000);
  EXPECT_FALSE(f.ready());
  EXPECT_TRUE(f.set(&answer));
  EXPECT_FALSE(f.set(nullptr));
  crew.join();
  EXPECT_EQ(good.load(), 20);
}

}  // namespace
}  // namespace sinew::fiber
