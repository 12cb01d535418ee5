// SPDX-License-Identifier: BSD-3-Clause
// Stacks near their workers: with pretended nodes, of which only the first need exist.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "fiber/hub.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::fiber {
namespace {

int node_of(const fiber* f) { return process_hub->memory.node_of(*f); }

void expect_near(int workers, int nodes, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<fiber*> made(200);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const int worker = static_cast<int>(i) % workers;
      ASSERT_TRUE(spawn([](void*) { yield(); }, nullptr, &made[i], {.worker = worker}).done());
      EXPECT_EQ(node_of(made[i]), worker % nodes);
    }
    for (fiber* f : made) {
      join(*f);
    }
  }
}

TEST(nodes, a_fiber_has_its_stack_where_it_runs) {
  scheduler s({.workers = 4, .pin = false, .nodes = 2});
  expect_near(4, 2, 3);
  std::atomic<bool> over{false};
  std::thread outside([&] {
    expect_near(4, 2, 3);
    over.store(true);
  });
  while (!over.load()) {  // a thread's join would stop this worker
    sleep_for(100'000);
  }
  outside.join();
  expect_near(4, 2, 1);
}

TEST(nodes, slots_are_used_again_by_their_own_node) {
  scheduler s({.workers = 2, .pin = false, .nodes = 2});
  std::set<fiber*> of[2];
  for (int i = 0; i < 400; ++i) {
    fiber* f = nullptr;
    ASSERT_TRUE(spawn([](void*) {}, nullptr, &f, {.worker = i % 2}).done());
    of[i % 2].insert(f);
    join(*f);
  }
  for (fiber* f : of[0]) {
    EXPECT_EQ(of[1].count(f), 0U);
  }
  EXPECT_LE(of[0].size() + of[1].size(), 260U) << "slots pile up";
}

TEST(nodes, the_kernel_is_told) {
  scheduler s({.workers = 2, .pin = false, .nodes = 2});
  int policy = -1;
  constexpr int of_address = 2;  // MPOL_F_ADDR
  if (::syscall(SYS_get_mempolicy, &policy, nullptr, 0, __builtin_frame_address(0), of_address) !=
      0) {
    GTEST_SKIP() << "the kernel does not tell of memory policies";
  }
  const int here = policy;
  static int on_stack = -1;
  fiber* f = nullptr;
  ASSERT_TRUE(spawn(
                  [](void*) {
                    // A variable may lie elsewhere: AddressSanitizer moves them.
                    (void)::syscall(SYS_get_mempolicy, &on_stack, nullptr, 0,
                                    __builtin_frame_address(0), of_address);
                  },
                  nullptr, &f, {.worker = 0})
                  .done());
  join(*f);
  constexpr int preferred = 1;
  EXPECT_EQ(on_stack, preferred);
  EXPECT_NE(here, preferred) << "the main thread's stack is not ours";
}

TEST(nodes, one_node_is_as_none) {
  scheduler s({.workers = 2, .nodes = 1});
  fiber* f = nullptr;
  ASSERT_TRUE(spawn([](void*) {}, nullptr, &f, {.worker = 1}).done());
  EXPECT_EQ(node_of(f), -1);
  join(*f);
}

}  // namespace
}  // namespace sinew::fiber
