// SPDX-License-Identifier: BSD-3-Clause
// The helper thread: it serves a rank whose program does not call, gives way to threads that wait,
// leaves the program's functions to the program, and ends with the runtime, also in a child.
#include "core/helper.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/pair_of_ranks.hpp"
#include "gtest/gtest.h"

namespace sinew::core {
namespace {

/// Until then a test takes a helper for one that never comes.
constexpr auto long_time = std::chrono::seconds(60);

/// As a program that computes: nothing of this is a call of ours.
template <class Ready>
bool compute_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + long_time;
  while (!ready()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

class helper_test : public ::testing::Test {
 protected:
  helper_test() : job(64, threading::many, progress::helper) {}
  pair_of_ranks job;
};

TEST_F(helper_test, serves_a_rank_that_computes) {
  ASSERT_TRUE(job[1].own->begin_service(service::requests));
  for (std::size_t box = 0; box < 20; ++box) {
    job.send(0, box);
    EXPECT_TRUE(compute_until([&] { return job[1].box[box].done(); })) << box;
  }
  job[1].own->end_service();
}

TEST_F(helper_test, gives_way_to_threads_that_wait_and_serves_again) {
  ASSERT_TRUE(job[0].own->begin_service(service::requests));
  ASSERT_TRUE(job[1].own->begin_service(service::requests));
  for (std::size_t round = 0; round < 30; ++round) {
    std::thread partner([&] {
      job.await(1, 1);
      job.send(1, 2);
    });
    job.send(0, 1);
    job.await(0, 2);
    partner.join();
    if (round % 3 == 0) {
      job.send(0, 3);
      EXPECT_TRUE(compute_until([&] { return job[1].box[3].done(); }));
      job[1].box[3].reset();
    }
  }
  job[0].own->end_service();
  job[1].own->end_service();
}

TEST_F(helper_test, gives_way_to_a_program_that_polls) {
  ASSERT_TRUE(job[1].own->begin_service(service::requests));
  job.send(0, 1);
  ASSERT_TRUE(compute_until([&] { return job[1].box[1].done(); }));
  // The helper sleeps on the doorbell now, or will; the loop must get the lead.
  std::atomic<std::thread::id> who{};
  const int chore = job[1].own->add_chore(
      [](void* w) {
        static_cast<std::atomic<std::thread::id>*>(w)->store(std::this_thread::get_id());
        return 0;
      },
      &who, chore_place::in_calls);
  job[1].own->want_chore(chore, true);
  EXPECT_TRUE(compute_until([&] {
    (void)job[1].own->poll();
    return who.load() == std::this_thread::get_id();
  }));
  job[1].own->drop_chore(chore);
  job[1].own->end_service();
}

TEST_F(helper_test, runs_chores_but_those_of_the_program) {
  ASSERT_TRUE(job[1].own->begin_service(service::requests));
  struct counted {
    std::atomic<int> anywhere{0};
    std::atomic<int> in_calls{0};
  } seen;
  const int other = job[1].own->add_chore(
      [](void* s) {
        ++static_cast<counted*>(s)->anywhere;
        return 0;
      },
      &seen);
  const int own = job[1].own->add_chore(
      [](void* s) {
        ++static_cast<counted*>(s)->in_calls;
        return 0;
      },
      &seen, chore_place::in_calls);
  job[1].own->want_chore(own, true);
  job[1].own->want_chore(other, true);
  job.send(0, 1);
  EXPECT_TRUE(compute_until([&] { return seen.anywhere.load() > 3; }));
  EXPECT_EQ(seen.in_calls.load(), 0);
  (void)compute_until([&] { return job[1].own->poll() >= 0 && seen.in_calls.load() > 0; });
  EXPECT_GT(seen.in_calls.load(), 0);
  {
    const without_helper still(*job[1].own);
    job[1].own->drop_chore(own);
    job[1].own->drop_chore(other);
  }
  job[1].own->end_service();
}

TEST_F(helper_test, does_nothing_while_it_is_held_and_before_and_after_service) {
  job.send(0, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(job[1].box[0].done()) << "no service has begun";
  ASSERT_TRUE(job[1].own->begin_service(service::messages));
  EXPECT_TRUE(compute_until([&] { return job[1].box[0].done(); }));
  {
    const without_helper still(*job[1].own);
    job.send(0, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(job[1].box[1].done());
  }
  EXPECT_TRUE(compute_until([&] { return job[1].box[1].done(); }));
  job[1].own->end_service();
  job.send(0, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(job[1].box[2].done());
  job.await(1, 2);
}

// A handler ends a wait and goes on: what it uses must not go before it has returned.
TEST_F(helper_test, rounds_of_others_are_outlasted) {
  struct slow {
    std::atomic<bool> inside{false};
    std::atomic<bool> has_ended{false};
  } seen;
  const int chore = job[1].own->add_chore(
      [](void* s) {
        auto& here = *static_cast<slow*>(s);
        here.inside = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        here.has_ended = true;
        return 0;
      },
      &seen, chore_place::in_calls);
  job[1].own->want_chore(chore, true);
  std::thread other([&] { (void)job[1].own->poll(); });
  EXPECT_TRUE(compute_until([&] { return seen.inside.load(); }));
  job[1].own->outlast_rounds();
  EXPECT_TRUE(seen.has_ended);
  other.join();
  job[1].own->outlast_rounds();
  job[1].own->drop_chore(chore);
}

TEST_F(helper_test, is_forgotten_by_the_child_of_a_fork) {
  ASSERT_TRUE(job[1].own->begin_service(service::requests));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const pid_t child = ::fork();
  if (child == 0) {
    job[1].own.reset();  // it must not wait for a thread that is not there
    ::_exit(37);
  }
  int how = 0;
  ASSERT_EQ(::waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 37) << how;
  job[1].own->end_service();
}

TEST(helper, takes_little_time_while_nothing_comes) {
  pair_of_ranks job(4, threading::many, progress::helper);
  ASSERT_TRUE(job[1].own->begin_service(service::requests));
  rusage before{};
  rusage after{};
  ::getrusage(RUSAGE_SELF, &before);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  ::getrusage(RUSAGE_SELF, &after);
  const auto switches = after.ru_nvcsw - before.ru_nvcsw;
  // Once it sleeps on the doorbell, ten times a second; a nap before that each 1 to 4 ms.
  EXPECT_LT(switches, 200);
  job[1].own->end_service();
}

TEST(helper, is_for_those_who_chose_it) {
  boot::place two;
  two.size = 2;
  EXPECT_FALSE(may_have_helper(two, progress::waiters, service::requests));
  EXPECT_TRUE(may_have_helper(two, progress::helper, service::messages));
  EXPECT_TRUE(may_have_helper(two, progress::automatic, service::requests));
  EXPECT_FALSE(may_have_helper(two, progress::automatic, service::messages));
  two.nodes = 2;
  EXPECT_TRUE(may_have_helper(two, progress::automatic, service::messages));
  EXPECT_FALSE(may_have_helper(boot::place{}, progress::helper, service::requests))
      << "nobody else is there";
  pair_of_ranks none(4, threading::many);
  EXPECT_FALSE(none[0].own->begin_service(service::requests));
  pair_of_ranks one(4, threading::one, progress::helper);
  EXPECT_FALSE(one[0].own->begin_service(service::requests)) << "it has no locks";
}

}  // namespace
}  // namespace sinew::core
