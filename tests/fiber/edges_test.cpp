// SPDX-License-Identifier: BSD-3-Clause
// Misuse and exhaustion: overflow, exceptions, no memory, joins that cannot be.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cfenv>
#include <csignal>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/fiber/thread_storage.hpp"
#include "support/fibers.hpp"

namespace sinew::fiber {
namespace {

/// In a process of its own, since it dies: one worker, one fiber that runs `work`.
void alone(std::function<void()> work, const spawn_options& how) {
  scheduler s({.workers = 1});
  test::crew crew;
  crew.add([] { yield(); }, {.name = "innocent", .stack_bytes = how.stack_bytes});
  crew.add(std::move(work), how);
  crew.add([] { yield(); }, {.name = "innocent", .stack_bytes = how.stack_bytes});
}

[[gnu::noinline]] int recurse(int depth) {
  std::array<char, 200> room{};
  asm volatile("" : : "r"(room.data()) : "memory");
  return depth == 0 ? room[0] : recurse(depth - 1) + room[1];
}

/// Uses about so many bytes of stack, and comes back.
void use_stack(int bytes) { (void)recurse(bytes / 250); }

void set(const char* name, const char* value) { settings::set_from_command_line(name, value); }

TEST(edges_death, a_guard_page_stops_an_overflow_and_the_fiber_is_named) {
  EXPECT_DEATH(alone([] { use_stack(10'000'000); }, {.name = "greedy"}),
               "fiber \"greedy\" ran over its stack of [0-9]+ KiB .*SINEW_FIBER_STACK");
}

/// A function with a local array that is larger than any stack here, of which it uses the far end.
[[gnu::noinline]] int enter_large_frame() {
  std::array<char, std::size_t{1} << 20U> room;  // NOLINT: not to be filled
  *static_cast<volatile char*>(room.data()) = 1;
  return room[0];
}

TEST(edges_death, a_frame_that_is_larger_than_the_stack_is_recognised) {
#if defined(SINEW_ASAN) || defined(SINEW_TSAN)
  GTEST_SKIP() << "stacks are much larger here";
#endif
  const auto enter = [] { (void)enter_large_frame(); };
  EXPECT_DEATH(alone(enter, {.name = "greedy", .stack_bytes = 65536}),
               "fiber \"greedy\" ran over its stack of 64 KiB.*backtrace");
}

TEST(edges_death, a_fiber_with_a_thread_pointer_of_its_own_names_the_setting_for_threads) {
#if defined(SINEW_ASAN) || defined(SINEW_TSAN)
  GTEST_SKIP() << "stacks are much larger here";
#endif
  EXPECT_DEATH(
      {
        advise_on_thread_stacks("set THIS_INSTEAD");
        alone([] { use_stack(10'000'000); },
              {.name = "greedy", .worker = 0, .thread_base = thread_base()});
      },
      "thread \"greedy\" ran over its stack of 64 KiB .*set THIS_INSTEAD");
}

TEST(edges, large_stacks_are_had_where_address_space_is_short) {
#if defined(SINEW_ASAN) || defined(SINEW_TSAN)
  GTEST_SKIP() << "the sanitizer's own address space is beyond any limit";
#endif
  scheduler s({.workers = 1});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit small = before;
  small.rlim_cur = std::size_t{1} << 30U;  // of which a chunk of 512 such stacks is the eightfold
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &small), 0);
  std::array<fiber*, 10> made{};
  static int ran;
  ran = 0;
  for (fiber*& f : made) {
    EXPECT_TRUE(spawn([](void*) { ++ran; }, nullptr, &f, {.stack_bytes = 8U << 20U}).done());
  }
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  for (fiber* f : made) {
    if (f != nullptr) {
      join(*f);
    }
  }
  EXPECT_EQ(ran, 10);
}

TEST(edges_death, so_it_does_with_a_small_stack) {
  EXPECT_DEATH(alone([] { use_stack(10'000'000); }, {.name = "greedy", .stack_bytes = 4096}),
               "fiber \"greedy\" ran over its stack");
}

TEST(edges_death, without_guard_pages_the_canary_tells_when_the_fiber_waits) {
#if defined(SINEW_ASAN) || defined(SINEW_TSAN)
  GTEST_SKIP() << "stacks are much larger here";
#endif
  EXPECT_DEATH(
      {
        set("SINEW_FIBER_GUARDED", "0");
        alone(
            [] {
              use_stack(5000);
              yield();
            },
            {.name = "greedy", .stack_bytes = 4096});
      },
      "fiber \"greedy\" ran over its stack of 4 KiB");
}

TEST(edges_death, without_guard_pages_a_fiber_that_waits_too_deep_is_found) {
#if defined(SINEW_ASAN) || defined(SINEW_TSAN)
  GTEST_SKIP() << "stacks are much larger here";
#endif
  EXPECT_DEATH(
      {
        set("SINEW_FIBER_GUARDED", "0");
        alone(
            [] {
              char* room = static_cast<char*>(__builtin_alloca(6000));
              asm volatile("" : : "r"(room) : "memory");  // never written: the canary is intact
              yield();
            },
            {.name = "deep", .stack_bytes = 4096});
      },
      "fiber \"deep\" ran over its stack of 4 KiB");
}

TEST(edges_death, an_overflow_in_the_first_slot_of_a_chunk_without_guards_is_stopped) {
  EXPECT_DEATH(
      {
        set("SINEW_FIBER_GUARDED", "0");
        scheduler s({.workers = 1});
        test::crew crew;  // the first of its class
        crew.add([] { use_stack(10'000'000); }, {.name = "first", .stack_bytes = 256 * 1024});
      },
      "fiber \"first\" ran over its stack");
}

TEST(edges_death, an_ordinary_fault_is_not_taken_for_an_overflow) {
#if defined(SINEW_ASAN) || defined(SINEW_TSAN)
  GTEST_SKIP() << "the sanitizer handles it";
#endif
  const auto wild = [] {
    volatile int* p = nullptr;
    asm volatile("" : "+r"(p));
    *p = 1;
  };
  EXPECT_EXIT(alone(wild, {.name = "wild"}), ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(edges_death, an_exception_that_leaves_a_fiber_names_it_and_shows_where) {
  EXPECT_DEATH(alone([] { throw std::runtime_error("out of luck"); }, {.name = "thrower"}),
               "fiber \"thrower\" was left by an exception: out of luck; backtrace");
  EXPECT_DEATH(alone([] { throw 7; }, {.name = "thrower"}),
               "fiber \"thrower\" was left by an exception that is no std::exception");
}

TEST(edges_death, joins_that_cannot_be) {
  EXPECT_DEATH(alone([] { join(*self()); }, {.name = "narcissus"}),
               "fiber \"narcissus\" joins itself");
  const auto twice = [] {
    scheduler s({.workers = 1});
    fiber* f = nullptr;
    (void)spawn([](void*) { yield(); }, nullptr, &f, {.name = "wanted"});
    test::crew crew;
    crew.add([&] { join(*f); });
    crew.add([&] { join(*f); });
  };
  EXPECT_DEATH(twice(), "fiber \"wanted\" is joined twice");
  const auto one_after_the_other = [] {
    scheduler s({.workers = 1});
    fiber* f = nullptr;
    (void)spawn([](void*) {}, nullptr, &f, {.name = "wanted"});
    join(*f);
    join(*f);
  };
  EXPECT_DEATH(one_after_the_other(), "fiber \"wanted\" is joined twice, or was detached");
  const auto detached = [] {
    scheduler s({.workers = 1});
    fiber* f = nullptr;
    (void)spawn([](void*) { yield(); }, nullptr, &f, {.name = "free"});
    detach(*f);
    join(*f);
  };
  EXPECT_DEATH(detached(), "fiber \"free\" is joined twice, or was detached");
}

TEST(edges, there_is_one_scheduler) {
  scheduler s({.workers = 1});
  EXPECT_THROW(scheduler another({.workers = 1}), error);
}

TEST(edges, a_stack_that_cannot_be_is_refused) {
  scheduler s({.workers = 1});
  const status got = spawn([](void*) {}, nullptr, nullptr, {.stack_bytes = std::size_t{1} << 40});
  EXPECT_TRUE(got.retry());
  EXPECT_EQ(got.reason, retry_reason::no_memory);
}

TEST(edges, without_memory_spawn_says_so_and_the_others_live) {
#if defined(SINEW_ASAN) || defined(SINEW_TSAN)
  GTEST_SKIP() << "the sanitizer's own address space is beyond any limit";
#endif
  scheduler s({.workers = 1});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  rlimit small = before;
  small.rlim_cur = std::size_t{400} << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &small), 0);
  std::vector<fiber*> made;
  made.reserve(2000);
  static long ran;
  ran = 0;
  status got{};
  for (int i = 0; i < 2000; ++i) {
    fiber* f = nullptr;
    got = spawn(
        [](void*) {
          yield();
          ++ran;
        },
        nullptr, &f, {.stack_bytes = 1 << 20});
    if (!got.done()) {
      EXPECT_EQ(f, nullptr);
      break;
    }
    made.push_back(f);
  }
  EXPECT_TRUE(got.retry());
  EXPECT_EQ(got.reason, retry_reason::no_memory);
  EXPECT_GT(made.size(), 100u);
  yield();
  EXPECT_EQ(ran, 0);
  const std::size_t had = made.size();
  for (fiber* f : made) {
    join(*f);
  }
  EXPECT_EQ(ran, static_cast<long>(had));
  // What was given back can be had again, but no more.
  made.clear();
  for (std::size_t i = 0; i < had; ++i) {
    fiber* f = nullptr;
    ASSERT_TRUE(spawn([](void*) {}, nullptr, &f, {.stack_bytes = 1 << 20}).done());
    made.push_back(f);
  }
  EXPECT_TRUE(spawn([](void*) {}, nullptr, nullptr, {.stack_bytes = 1 << 20}).retry());
  for (fiber* f : made) {
    join(*f);
  }
  ::setrlimit(RLIMIT_DATA, &before);
  fiber* f = nullptr;
  ASSERT_TRUE(spawn([](void*) {}, nullptr, &f, {.stack_bytes = 2 << 20}).done());
  join(*f);
}

/// Throws `mine`, waits inside the handler while others do the same, and throws it on.
void hold(int mine, int& seen) {
  try {
    try {
      throw mine;
    } catch (int) {
      yield();
      yield();
      throw;
    }
  } catch (int caught) {
    yield();
    seen = caught;
  }
}

TEST(edges, an_exception_that_is_being_handled_is_a_fibers_own) {
  scheduler s({.workers = 1});
  std::array<int, 8> seen{};
  int left_over = 0;
  {
    test::crew crew;
    for (int i = 0; i < static_cast<int>(seen.size()); ++i) {
      crew.add([&, i] {
        for (int k = i % 3; k > 0; --k) {
          yield();
        }
        left_over += std::current_exception() != nullptr ? 1 : 0;
        hold(i + 1, seen[static_cast<std::size_t>(i)]);
        left_over += std::current_exception() != nullptr ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(seen, (std::array<int, 8>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(left_over, 0);
}

TEST(edges, rounding_modes_are_a_fibers_own) {
  scheduler s({.workers = 1});
  const auto third = [](double one) {
    asm volatile("" : "+m"(one));  // divided here and now
    return one / 3;
  };
  const double nearest = third(1);
  std::vector<double> up;
  std::vector<double> down;
  test::crew crew;
  crew.add([&] {
    std::fesetround(FE_UPWARD);
    for (int i = 0; i < 3; ++i) {
      yield();
      up.push_back(third(1));
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
    }
  });
  crew.add([&] {
    std::fesetround(FE_DOWNWARD);
    for (int i = 0; i < 3; ++i) {
      yield();
      down.push_back(third(1));
      EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    }
  });
  for (int i = 0; i < 4; ++i) {
    yield();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    EXPECT_EQ(third(1), nearest);
  }
  crew.join();
  ASSERT_EQ(up.size(), 3u);
  EXPECT_GT(up[0], nearest - 1e-17);
  EXPECT_GT(up[2], down[2]);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

}  // namespace
}  // namespace sinew::fiber
