// SPDX-License-Identifier: BSD-3-Clause
// A rank that crashes says so, whoever handled faults first: fibers or the report.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "sinew/boot/crash_report.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::core {
namespace {

void touch_nothing() {
  volatile int* p = nullptr;
  asm volatile("" : "+r"(p));
  *p = 1;
}

[[maybe_unused]] void crash_in_a_fiber() {  // not under sanitizers
  fiber::fiber* f = nullptr;
  (void)fiber::spawn([](void*) { touch_nothing(); }, nullptr, &f, {.name = "clumsy"});
  fiber::join(*f);
}

#if !defined(SINEW_ASAN) && !defined(SINEW_TSAN)

constexpr const char* whole_report = "rank 0 of 1 crashed.*SIGSEGV.*address 0x0; backtrace";

TEST(crash_with_fibers, is_reported_when_they_were_there_first) {
  EXPECT_EXIT(
      {
        const fiber::scheduler s({.workers = 1});
        boot::install_crash_report({});
        touch_nothing();
      },
      ::testing::KilledBySignal(SIGSEGV), whole_report);
  EXPECT_EXIT(
      {
        const fiber::scheduler s({.workers = 2});
        boot::install_crash_report({});
        crash_in_a_fiber();
      },
      ::testing::KilledBySignal(SIGSEGV), whole_report);
}

TEST(crash_with_fibers, is_reported_when_they_came_later_or_have_gone) {
  EXPECT_EXIT(
      {
        boot::install_crash_report({});
        const fiber::scheduler s({.workers = 1});
        crash_in_a_fiber();
      },
      ::testing::KilledBySignal(SIGSEGV), whole_report);
  EXPECT_EXIT(
      {
        {
          const fiber::scheduler s({.workers = 1});
        }
        boot::install_crash_report({});
        touch_nothing();
      },
      ::testing::KilledBySignal(SIGSEGV), whole_report);
  EXPECT_EXIT(
      {
        boot::install_crash_report({});
        {
          const fiber::scheduler s({.workers = 1});
        }
        touch_nothing();
      },
      ::testing::KilledBySignal(SIGSEGV), whole_report);
}

TEST(crash_with_fibers, the_programs_own_handler_comes_first) {
  EXPECT_EXIT(
      {
        ::signal(SIGSEGV, [](int) { ::_exit(5); });
        const fiber::scheduler s({.workers = 1});
        boot::install_crash_report({});
        crash_in_a_fiber();
      },
      ::testing::ExitedWithCode(5), "^$");
}

#endif

}  // namespace
}  // namespace sinew::core
