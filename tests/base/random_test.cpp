// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <vector>

#include "sinew/base/error.hpp"

namespace sinew {
namespace {

static_assert(std::uniform_random_bit_generator<random_generator>);

// The first outputs of the published algorithms for known states.
TEST(random, SplitMixMatchesItsDefinition) {
  std::uint64_t state = 1234567;
  EXPECT_EQ(split_mix(state), 6457827717110365317ULL);
  EXPECT_EQ(split_mix(state), 3203168211198807973ULL);
}

TEST(random, SameSeedSameNumbers) {
  random_generator one(42);
  random_generator two(42);
  random_generator other(43);
  int different = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = one();
    EXPECT_EQ(value, two());
    different += value != other() ? 1 : 0;
  }
  EXPECT_GT(different, 990);
}

TEST(random, BelowIsEvenAndBounded) {
  random_generator draw(7);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) {
    ++counts.at(draw.below(10));
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10'000, 600);
  }
  EXPECT_EQ(draw.below(0), 0U);
  EXPECT_EQ(draw.below(1), 0U);
}

TEST(random, BetweenIncludesBothEnds) {
  random_generator draw(7);
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t value = draw.between(-2, 2);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_EQ(low, -2);
  EXPECT_EQ(high, 2);
  EXPECT_EQ(draw.between(5, 5), 5);
  static_cast<void>(draw.between(INT64_MIN, INT64_MAX));
}

TEST(random, UnitIsInRange) {
  random_generator draw(9);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = draw.unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
  EXPECT_FALSE(draw.with_probability(0));
  EXPECT_TRUE(draw.with_probability(1));
}

TEST(random, ShufflesWithTheStandardLibrary) {
  std::vector<int> values{1, 2, 3, 4, 5, 6, 7, 8};
  std::shuffle(values.begin(), values.end(), random_generator(3));
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(random, SeedComesFromTheEnvironmentAndIsPrinted) {
  const char* before = std::getenv("SINEW_TEST_SEED");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("SINEW_TEST_SEED", "991", 1);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(seed_from_environment(), 991U);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("SINEW_TEST_SEED=991"),
            std::string::npos);
  ::setenv("SINEW_TEST_SEED", "x", 1);
  EXPECT_THROW(static_cast<void>(seed_from_environment()), error);
  if (before != nullptr) {
    ::setenv("SINEW_TEST_SEED", kept.c_str(), 1);
  } else {
    ::unsetenv("SINEW_TEST_SEED");
  }
}

}  // namespace
}  // namespace sinew
