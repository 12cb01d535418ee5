// SPDX-License-Identifier: BSD-3-Clause
// What a fiber's life costs once there is a stack for it: no allocation, no system call for memory.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/allocations.hpp"

namespace sinew::fiber {
namespace {

/// Mappings of this process: a line each. Under a sanitizer, which makes its own, always 0.
long mappings() {
#if defined(SINEW_ASAN) || defined(SINEW_TSAN)
  return 0;
#endif
  std::ifstream in("/proc/self/maps");
  long lines = 0;
  for (std::string line; std::getline(in, line);) {
    ++lines;
  }
  return lines;
}

struct meeting {
  mutex door;
  condition_variable changed;
  int here = 0;
};

void meet(void* at) {
  auto& m = *static_cast<meeting*>(at);
  yield();
  m.door.lock();
  ++m.here;
  m.changed.notify_all();
  while (m.here % 2 != 0) {
    m.changed.wait(m.door);
  }
  m.door.unlock();
}

void two_lives(meeting& m) {
  fiber* pair[2] = {};
  for (fiber*& f : pair) {
    ASSERT_TRUE(spawn(meet, &m, &f, {.name = "guest"}).done());
  }
  for (fiber* f : pair) {
    join(*f);
  }
}

TEST(allocation, a_life_with_a_cached_stack_needs_none) {
  scheduler s({.workers = 1});
  meeting m;
  two_lives(m);  // makes the stacks
  const long maps = mappings();
  const long before = test::allocations;
  for (int i = 0; i < 1000; ++i) {
    two_lives(m);
  }
  EXPECT_EQ(test::allocations, before);
  EXPECT_EQ(mappings(), maps);
  EXPECT_EQ(m.here, 2002);
}

TEST(allocation, a_detached_fiber_gives_its_stack_back_too) {
  scheduler s({.workers = 1});
  long ran = 0;
  const auto live = [&] {
    ASSERT_TRUE(
        spawn([](void* n) { ++*static_cast<long*>(n); }, &ran, nullptr, {.detached = true}).done());
    yield();
  };
  live();
  const long maps = mappings();
  const long before = test::allocations;
  for (int i = 0; i < 1000; ++i) {
    live();
  }
  EXPECT_EQ(test::allocations, before);
  EXPECT_EQ(mappings(), maps);
  EXPECT_EQ(ran, 1001);
}

// The counter counts: otherwise the tests above could not fail.
TEST(allocation, is_counted) {
  const long before = test::allocations;
  delete new int(1);
  std::string text(100, 'x');
  EXPECT_GE(test::allocations, before + 1);
}

}  // namespace
}  // namespace sinew::fiber
