// SPDX-License-Identifier: BSD-3-Clause
// Fibers that wait in core: their workers poll, and threads may wait beside them.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/pair_of_ranks.hpp"
#include "sinew/base/random.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::core {
namespace {

constexpr std::size_t stack_bytes = 16 * 1024;

/// What a fiber of a test is given; lives until it is joined.
struct task {
  pair_of_ranks* job;
  int rank;
  std::size_t box;
  int trips;
  std::uint64_t seed;
};

void bounce(void* at) {
  const task& t = *static_cast<task*>(at);
  random_generator own(t.seed);
  for (int i = 0; i < t.trips; ++i) {
    if (t.rank == 0) {
      t.job->send(0, t.box);
    }
    t.job->await(t.rank, t.box);
    if (t.rank == 1) {
      t.job->send(1, t.box);
    }
    const std::uint64_t dice = own.below(2000);
    if (dice == 0) {
      fiber::sleep_for(own.below(2'000'000));
    } else if (dice < 200) {
      fiber::yield();
    }
  }
}

/// `pairs` pairs of fibers, rank r's on worker r % workers.
void bounce_all(std::size_t pairs, int trips, int workers, threading threads) {
  pair_of_ranks job(pairs, threads);
  const fiber::scheduler all({.workers = workers, .pin = false});
  std::vector<task> tasks;
  tasks.reserve(2 * pairs);
  std::vector<fiber::fiber*> made;
  for (std::size_t p = 0; p < pairs; ++p) {
    for (int r = 0; r < 2; ++r) {
      tasks.push_back({&job, r, p, trips, p * 2 + static_cast<std::size_t>(r)});
      fiber::fiber* f = nullptr;
      ASSERT_TRUE(fiber::spawn(bounce, &tasks.back(), &f,
                               {.stack_bytes = stack_bytes, .worker = r % workers})
                      .done());
      made.push_back(f);
    }
  }
  for (fiber::fiber* f : made) {
    fiber::join(*f);
  }
  EXPECT_EQ(job[0].arrived, static_cast<int>(pairs) * trips);
  EXPECT_EQ(job[1].arrived, static_cast<int>(pairs) * trips);
}

TEST(fibers, a_worker_for_each_rank) { bounce_all(400, 20, 2, threading::many); }

TEST(fibers, few_with_a_worker_for_each_rank) { bounce_all(2, 3000, 2, threading::many); }

// Both ranks on one worker, which is the only thread: no atomic instruction is needed.
TEST(fibers, a_single_thread) { bounce_all(2000, 10, 1, threading::one); }

// The runtimes may come after the scheduler, and go before it.
TEST(fibers, scheduler_before_runtime) {
  const fiber::scheduler all({.workers = 1});
  for (int round = 0; round < 3; ++round) {
    pair_of_ranks job(1, threading::one);
    task there{&job, 1, 0, 10, 1};
    task here{&job, 0, 0, 10, 2};
    fiber::fiber* f = nullptr;
    ASSERT_TRUE(fiber::spawn(bounce, &there, &f).done());
    bounce(&here);
    fiber::join(*f);
  }
}

// The same runtimes serve threads and fibers at once.
TEST(fibers, beside_threads) {
  constexpr std::size_t pairs = 8;
  constexpr int trips = 500;
  pair_of_ranks job(2 * pairs);
  const fiber::scheduler all({.workers = 1, .pin = false});
  std::vector<task> tasks;
  for (std::size_t p = 0; p < 2 * pairs; ++p) {
    tasks.push_back({&job, 0, p, trips, p});
    tasks.push_back({&job, 1, p, trips, p + 100});
  }
  std::vector<fiber::fiber*> made;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    // Of every two pairs one is two fibers; of the other, a fiber and a thread.
    if (i % 4 == 0) {
      threads.emplace_back([&tasks, i] { bounce(&tasks[i]); });
    } else {
      fiber::fiber* f = nullptr;
      ASSERT_TRUE(fiber::spawn(bounce, &tasks[i], &f, {.stack_bytes = stack_bytes}).done());
      made.push_back(f);
    }
  }
  for (fiber::fiber* f : made) {
    fiber::join(*f);
  }
  for (auto& t : threads) {
    t.join();
  }
  EXPECT_EQ(job[0].arrived, static_cast<int>(2 * pairs) * trips);
}

struct want {
  pair_of_ranks* job;
  int count;
  bool poll;
};

void await_count(void* at) {
  const want& w = *static_cast<want*>(at);
  const auto enough = [](void* p) {
    const want& self = *static_cast<want*>(p);
    return (*self.job)[0].arrived.load() >= self.count;
  };
  if (w.poll) {
    while (!enough(at)) {
      (*w.job)[0].own->poll();  // lets the others run
    }
  } else {
    (*w.job)[0].own->wait_until(enough, at);
  }
}

TEST(fibers, conditions_and_loops_of_tests) {
  constexpr int waiters = 100;
  pair_of_ranks job(1, threading::one);
  const fiber::scheduler all({.workers = 1});
  std::vector<want> wants;
  std::vector<fiber::fiber*> made;
  for (int i = 0; i < waiters; ++i) {
    wants.push_back({&job, i + 1, i % 10 == 0});
  }
  for (want& w : wants) {
    fiber::fiber* f = nullptr;
    ASSERT_TRUE(fiber::spawn(await_count, &w, &f).done());
    made.push_back(f);
  }
  for (int i = 0; i < waiters; ++i) {
    job.send(1, 1000);
    fiber::yield();
  }
  for (fiber::fiber* f : made) {
    fiber::join(*f);
  }
}

// The worker sleeps on the doorbell (or naps); a thread makes a fiber ready.
TEST(fibers, a_sleeping_worker_is_woken_by_threads) {
  pair_of_ranks job;
  const fiber::scheduler all({.workers = 1, .pin = false});
  completion go;
  std::thread later([&go] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go.complete();
  });
  job[0].own->wait(go);
  EXPECT_TRUE(go.done());
  later.join();
}

}  // namespace
}  // namespace sinew::core
