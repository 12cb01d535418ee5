// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sinew/base/spin.hpp"
#include "support/time.hpp"

namespace sinew {
namespace {

TEST(clock, NeverGoesBack) {
  std::int64_t last = now_ns();
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t now = now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

// Best of several spans: one may be interrupted between the two readings of its end.
TEST(clock, TicksAgreeWithNanoseconds) {
  double closest = 1;
  for (int attempt = 0; attempt < 20 && closest > 0.01; ++attempt) {
    const std::int64_t ns = now_ns();
    const std::uint64_t begin = ticks();
    while (now_ns() - ns < 2'000'000) {
      cpu_relax();
    }
    const std::int64_t by_ticks = ticks_to_ns(ticks() - begin);
    const std::int64_t by_clock = now_ns() - ns;
    const double ratio = static_cast<double>(by_ticks) / static_cast<double>(by_clock);
    closest = std::min(closest, std::abs(ratio - 1));
  }
  EXPECT_LE(closest, 0.01);
}

TEST(clock, ConversionsAreInverse) {
  const std::uint64_t count = ns_to_ticks(1'000'000);
  EXPECT_NEAR(static_cast<double>(ticks_to_ns(count)), 1e6, 1e4);
  EXPECT_EQ(ns_to_ticks(-5), 0U);
}

TEST(clock, another_source_of_time_takes_the_systems_place) {
  const std::int64_t before = now_ns();
  {
    test::time_by_steps time(1);
    const time_from here(time);
    const std::int64_t begin = now_ns();
    EXPECT_EQ(now_ns(), begin + 1);
    sleep_ns(3600 * second_ns);  // in no time
    EXPECT_EQ(now_ns(), begin + 3600 * second_ns + 2);
    sleep_ns(-1);
    EXPECT_EQ(now_ns(), begin + 3600 * second_ns + 3);
  }
  EXPECT_GE(now_ns(), before);
  EXPECT_LT(now_ns(), before + 3600 * second_ns);
}

TEST(clock, a_thread_sleeps_as_long_as_it_is_told) {
  const std::int64_t begin = now_ns();
  sleep_ns(2'000'000);
  EXPECT_GE(now_ns() - begin, 2'000'000);
}

}  // namespace
}  // namespace sinew
