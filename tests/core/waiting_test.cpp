// SPDX-License-Identifier: BSD-3-Clause
// Many threads that wait in one runtime: nobody waits for ever, whoever polls, parks or leaves.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "core/pair_of_ranks.hpp"
#include "sinew/base/random.hpp"
#include "sinew/core/completion.hpp"

namespace sinew::core {
namespace {

/// As on a machine of one processor, for as long as it lives.
class one_processor {
 public:
  one_processor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &before_)) {
        CPU_SET(i, &one);
        break;
      }
    }
    sched_setaffinity(0, sizeof one, &one);
  }
  ~one_processor() { sched_setaffinity(0, sizeof before_, &before_); }
  one_processor(const one_processor&) = delete;
  one_processor& operator=(const one_processor&) = delete;

 private:
  cpu_set_t before_;
};

constexpr std::uint64_t no_box = 1000;

void nap(std::uint64_t us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

// Pairs of threads bounce messages. Now and then one stays away for a while, so that the others
// park, poll, sleep on the doorbell, become monitor and are appointed, in all orders.
void storm(std::uint64_t seed, int threads, int trips) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  pair_of_ranks job;
  std::vector<std::thread> all;
  for (int r = 0; r < 2; ++r) {
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, r, t] {
        random_generator own(seed * 1000 + static_cast<std::uint64_t>(r * 100 + t));
        const auto box = static_cast<std::size_t>(t);
        for (int i = 0; i < trips; ++i) {
          if (r == 0) {
            job.send(0, box);
          }
          job.await(r, box);
          if (r == 1) {
            job.send(1, box);
          }
          const std::uint64_t dice = own.below(1000);
          if (dice < 20) {
            nap(dice * dice * 10);
          }
        }
      });
    }
  }
  for (auto& t : all) {
    t.join();
  }
  EXPECT_EQ(job[0].arrived, threads * trips);
  EXPECT_EQ(job[1].arrived, threads * trips);
}

TEST(waiting, storm_on_one_processor) {
  const one_processor here;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    storm(seed, 14, 200);
  }
}

TEST(waiting, storm_on_all_processors) {
  for (std::uint64_t seed = 11; seed <= 13; ++seed) {
    storm(seed, 3, 1000);
  }
}

// Two threads wait; one gets its message and goes away. The other's message comes only then.
TEST(waiting, who_stays_is_served_when_the_others_have_left) {
  const one_processor here;
  pair_of_ranks job;
  for (int round = 0; round < 20; ++round) {
    std::thread stays([&] { job.await(0, 0); });
    std::vector<std::thread> leave;
    for (std::size_t t = 1; t < 5; ++t) {
      leave.emplace_back([&, t] { job.await(0, t); });
    }
    nap(1000);
    for (std::size_t t = 1; t < 5; ++t) {
      job.send(1, t);
      nap(static_cast<std::uint64_t>(round) * 50);
    }
    for (auto& t : leave) {
      t.join();
    }
    job.send(1, 0);
    stays.join();
  }
}

// Conditions that a message makes true, looked at by whoever polls.
TEST(waiting, conditions_are_seen_by_parked_threads) {
  const one_processor here;
  pair_of_ranks job;
  struct want {
    std::atomic<int>* arrived;
    int count;
  };
  constexpr int waiters = 6;
  std::vector<std::thread> all;
  std::vector<want> wants;
  for (int t = 0; t < waiters; ++t) {
    wants.push_back({&job[0].arrived, (t + 1) * 10});
  }
  for (want& w : wants) {
    all.emplace_back([&] {
      job[0].own->wait_until(
          [](void* at) {
            const auto& self = *static_cast<want*>(at);
            return self.arrived->load() >= self.count;
          },
          &w);
      EXPECT_GE(job[0].arrived.load(), w.count);
    });
  }
  for (int i = 0; i < waiters * 10; ++i) {
    job.send(1, no_box);
    nap(i % 7 == 0 ? 3000 : 10);
  }
  for (auto& t : all) {
    t.join();
  }
}

}  // namespace
}  // namespace sinew::core
