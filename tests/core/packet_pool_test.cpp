// SPDX-License-Identifier: BSD-3-Clause
// The packet pool: no packet is lost or in two hands, none stays out of reach, threads come and go.
#include "sinew/core/packet_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "core/packet_pool_core.hpp"
#include "sinew/base/random.hpp"
#include "sinew/base/steps.hpp"
#include "support/explorer.hpp"

namespace sinew::core {
namespace {

TEST(packet_pool, hands_out_each_packet_once_and_then_says_retry) {
  packet_pool pool({.packets = 10, .packet_bytes = 100});
  EXPECT_EQ(pool.packet_bytes(), 128u);
  EXPECT_EQ(pool.memory().size(), 1280u);
  std::set<void*> packets;
  for (int i = 0; i < 10; ++i) {
    const auto got = pool.get();
    ASSERT_TRUE(got.what.done());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got.packet) % 64, 0u);
    EXPECT_GE(static_cast<std::byte*>(got.packet), pool.memory().data());
    std::memset(got.packet, 1, 128);
    EXPECT_TRUE(packets.insert(got.packet).second);
  }
  const auto none = pool.get();
  EXPECT_EQ(none.packet, nullptr);
  EXPECT_TRUE(none.what.retry());
  EXPECT_EQ(none.what.reason, retry_reason::no_packet);
  pool.put(*packets.begin());
  EXPECT_EQ(pool.get().packet, *packets.begin());
  for (void* packet : packets) {
    pool.put(packet);
  }
  EXPECT_EQ(pool.unused(), 10u);
}

TEST(packet_pool, the_last_one_put_is_the_first_one_got) {
  packet_pool pool({.packets = 100, .workers = 1});
  void* const a = pool.get(0).packet;
  void* const b = pool.get(0).packet;
  pool.put(a, 0);
  pool.put(b, 0);
  EXPECT_EQ(pool.get(0).packet, b);
  EXPECT_EQ(pool.get(0).packet, a);
}

TEST(packet_pool, what_one_worker_keeps_another_can_get) {
  packet_pool pool({.packets = 16, .workers = 4});
  std::vector<void*> all;
  for (int i = 0; i < 16; ++i) {
    all.push_back(pool.get(i % 4).packet);
  }
  for (std::size_t i = 0; i < 16; ++i) {
    pool.put(all[i], static_cast<int>(i % 4));
  }
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(pool.get(2).what.done()) << i;
  }
  EXPECT_TRUE(pool.get(2).what.retry());
}

TEST(packet_pool, what_an_idle_thread_keeps_another_can_get) {
  packet_pool pool({.packets = 8});
  std::atomic<int> stage{0};
  std::thread idle([&] {
    std::vector<void*> all;
    for (int i = 0; i < 8; ++i) {
      all.push_back(pool.get().packet);
    }
    for (void* packet : all) {
      pool.put(packet);
    }
    stage = 1;
    while (stage != 2) {
      std::this_thread::yield();
    }
  });
  while (stage != 1) {
    std::this_thread::yield();
  }
  std::vector<void*> mine;
  for (int i = 0; i < 8; ++i) {
    mine.push_back(pool.get().packet);
  }
  for (void* packet : mine) {
    EXPECT_NE(packet, nullptr);
  }
  stage = 2;
  idle.join();
  for (void* packet : mine) {
    pool.put(packet);
  }
}

TEST(packet_pool, a_thread_that_ends_gives_back_what_it_kept) {
  packet_pool pool({.packets = 64});
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&pool] {
        std::vector<void*> held;
        for (int i = 0; i < 12; ++i) {
          held.push_back(pool.get().packet);
        }
        for (void* packet : held) {
          if (packet != nullptr) {
            pool.put(packet);
          }
        }
      });
    }
    for (std::thread& t : threads) {
      t.join();
    }
    ASSERT_EQ(pool.unused(), 64u);
  }
}

TEST(packet_pool, threads_and_pools_may_end_in_any_order) {
  auto first = std::make_unique<packet_pool>(packet_pool_options{.packets = 4});
  packet_pool second({.packets = 4});
  std::atomic<int> stage{0};
  std::thread user([&] {
    first->put(first->get().packet);
    second.put(second.get().packet);
    first->put(first->get().packet);
    stage = 1;
    while (stage != 2) {
      std::this_thread::yield();
    }
    second.put(second.get().packet);
    packet_pool third({.packets = 4});  // perhaps at the address of the first
    void* const packet = third.get().packet;
    EXPECT_NE(packet, nullptr);
    third.put(packet);
  });
  while (stage != 1) {
    std::this_thread::yield();
  }
  first.reset();
  stage = 2;
  user.join();
  EXPECT_EQ(second.unused(), 4u);
}

TEST(packet_pool, refuses_what_makes_no_sense) {
  EXPECT_ANY_THROW(packet_pool({.packets = 0}));
  EXPECT_ANY_THROW(packet_pool({.packet_bytes = 0}));
  EXPECT_ANY_THROW(packet_pool({.packets = std::size_t{1} << 40}));
}

/// Each packet carries the mark of its holder: a second holder would overwrite it.
void churn(packet_pool& pool, random_generator random, std::uint64_t mark, int steps, int worker) {
  std::vector<std::uint64_t*> held;
  const auto get = [&] { return worker < 0 ? pool.get() : pool.get(worker); };
  const auto put = [&](void* p) { return worker < 0 ? pool.put(p) : pool.put(p, worker); };
  const auto put_last = [&] {
    ASSERT_EQ(*held.back(), mark);
    *held.back() = 0;
    put(held.back());
    held.pop_back();
  };
  for (int i = 0; i < steps; ++i) {
    for (std::uint64_t n = random.below(24); n > 0; --n) {
      const auto got = get();
      if (!got.what.done()) {
        break;
      }
      auto* packet = static_cast<std::uint64_t*>(got.packet);
      ASSERT_EQ(*packet, 0u) << "somebody holds it";
      *packet = mark;
      held.push_back(packet);
    }
    if (random.below(50) == 0) {
      std::this_thread::yield();
    }
    for (std::uint64_t n = random.below(held.size() + 1); n > 0; --n) {
      put_last();
    }
  }
  while (!held.empty()) {
    put_last();
  }
}

TEST(packet_pool, workers_and_passing_threads_lose_and_double_nothing) {
  const std::uint64_t seed = seed_from_environment();
  for (const std::size_t packets : {3, 40, 500}) {
    packet_pool pool({.packets = packets, .packet_bytes = 64, .workers = 2});
    for (int wave = 0; wave < 10; ++wave) {
      std::vector<std::thread> threads;
      for (int t = 0; t < 5; ++t) {
        const auto number = static_cast<std::uint64_t>(wave * 5 + t + 1);
        threads.emplace_back([&pool, seed, number, t] {
          churn(pool, random_generator(seed + number), number, 1000, t < 2 ? t : -1);
        });
      }
      for (std::thread& t : threads) {
        t.join();
      }
      ASSERT_EQ(pool.unused(), packets);
    }
    std::set<void*> all;
    while (void* const packet = pool.get().packet) {
      all.insert(packet);
    }
    EXPECT_EQ(all.size(), packets);
  }
}

// A packet got by one thread and put by another, all the time: none gathers where nobody looks.
TEST(packet_pool, a_stream_from_one_thread_to_another_does_not_dry_up) {
  packet_pool pool({.packets = 32, .packet_bytes = 64});
  constexpr int many = 500;  // each may cost a time slice beside busy threads
  std::atomic<void*> passed{nullptr};
  std::thread consumer([&] {
    for (int i = 0; i < many; ++i) {
      void* packet = nullptr;
      while ((packet = passed.exchange(nullptr)) == nullptr) {
        std::this_thread::yield();
      }
      pool.put(packet);
    }
  });
  for (int i = 0; i < many; ++i) {
    auto got = pool.get();
    while (!got.what.done()) {
      got = pool.get();
    }
    void* empty = nullptr;
    while (!passed.compare_exchange_weak(empty, got.packet)) {
      empty = nullptr;
      std::this_thread::yield();
    }
  }
  consumer.join();
  EXPECT_EQ(pool.unused(), 32u);
}

/// Two or three threads, few packets, every access a possible switch.
class explored {
 public:
  explicit explored(std::uint64_t seed, std::size_t threads) : random_(seed) {
    const std::size_t packets = 1 + random_.below(5);
    std::vector<void*> all;
    for (std::size_t i = 0; i < packets; ++i) {
      all.push_back(&slots_[i]);
    }
    pool_ = std::make_unique<packet_pool_core<test::explored_steps>>(all, 1 + random_.below(3),
                                                                     /*asymmetric=*/false);
    packets_ = packets;
    for (std::size_t t = 0; t < threads; ++t) {
      caches_.push_back(pool_->open());
      std::vector<bool> plan;  // true: get
      for (int i = 0; i < 4; ++i) {
        plan.push_back(random_.below(3) != 0);
      }
      plans_.push_back(plan);
      closes_.push_back(random_.below(3) == 0);
    }
    // Packets begin everywhere: with the first, with the last, in the depot.
    for (std::size_t i = 0; i < packets; ++i) {
      pool_->put(caches_[random_.below(2) * (threads - 1)], pool_->get(nullptr));
    }
  }

  std::vector<std::function<void()>> bodies() {
    std::vector<std::function<void()>> made;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      made.emplace_back([this, i] { thread(i); });
    }
    return made;
  }

  void check() {
    ASSERT_FALSE(doubled_);
    ASSERT_EQ(pool_->unused(), packets_);
    packet_cache* const cache = pool_->open();
    for (std::size_t i = 0; i < packets_; ++i) {
      ASSERT_NE(pool_->get(cache), nullptr) << "hidden";
    }
    ASSERT_EQ(pool_->get(cache), nullptr);
  }

 private:
  void thread(std::size_t me) {
    std::vector<int*> held;
    const auto put_one = [&] {
      --*held.back();
      pool_->put(caches_[me], held.back());
      held.pop_back();
    };
    for (const bool get : plans_[me]) {
      if (get) {
        if (auto* packet = static_cast<int*>(pool_->get(caches_[me]))) {
          if (++*packet != 1) {
            doubled_ = true;
          }
          held.push_back(packet);
        }
      } else if (!held.empty()) {
        put_one();
      }
    }
    while (!held.empty()) {
      put_one();
    }
    if (closes_[me]) {
      pool_->close(*caches_[me]);
    }
  }

  random_generator random_;
  std::array<int, 8> slots_{};
  std::size_t packets_ = 0;
  std::unique_ptr<packet_pool_core<test::explored_steps>> pool_;
  std::vector<packet_cache*> caches_;
  std::vector<std::vector<bool>> plans_;
  std::vector<bool> closes_;
  bool doubled_ = false;
};

TEST(packet_pool, every_interleaving_with_two_preemptions) {
  const std::uint64_t seed = seed_from_environment();
  long runs = 0;
  for (std::uint64_t i = 0; i < 2 * test::exploration_scale; ++i) {
    test::exhaustive_chooser all(2);
    do {
      explored e(seed + i, 2);
      test::explorer::run(e.bodies(), all);
      e.check();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "scenario " << seed + i;
    } while (all.next() && ++runs % (1000 * test::exploration_scale) != 0);
  }
  EXPECT_GT(runs, 100);
}

TEST(packet_pool, three_threads_in_orders_by_seed) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 500 * test::exploration_scale; ++i) {
    explored e(seed + i, 3);
    test::random_chooser some(seed + i, 0.2);
    test::explorer::run(e.bodies(), some);
    e.check();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "scenario " << seed + i;
  }
}

}  // namespace
}  // namespace sinew::core
