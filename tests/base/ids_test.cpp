// SPDX-License-Identifier: BSD-3-Clause
// What converts to a rank, what does not, and that it is the number in memory.
#include "sinew/base/ids.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <set>
#include <sstream>
#include <type_traits>
#include <unordered_set>

namespace sinew {
namespace {

static_assert(!std::is_convertible_v<job_rank, local_rank>, "kinds do not mix");
static_assert(!std::is_constructible_v<job_rank, local_rank>, "not even if asked to");
static_assert(!std::is_convertible_v<job_rank, int>, "the way back is value()");
static_assert(std::is_trivially_copyable_v<job_rank> && sizeof(job_rank) == sizeof(int));
static_assert(fits_in<std::uint16_t, std::int32_t> && !fits_in<std::uint32_t, std::int32_t> &&
              !fits_in<std::int64_t, std::int32_t> && !fits_in<int, std::uint32_t>);
static_assert(std::bit_cast<std::int32_t>(job_rank(7)) == 7, "headers of messages hold it");

constexpr job_rank constant = 5;
static_assert(constant.value() == 5 && constant.index() == 5 && constant == 5 && constant < 6);
static_assert(constant.below(6) && !constant.below(5) && !no_job_rank.below(5));

TEST(ids, computed_numbers_say_what_they_are) {
  const int computed = static_cast<int>(std::set<int>{3, 4}.size());
  const job_rank one{computed};
  const job_rank two = job_rank::of_index(std::set<int>{3, 4}.size());
  EXPECT_TRUE(one == two && one == 2);
  EXPECT_EQ(one.value(), 2);
  const std::uint16_t narrow = 7;
  EXPECT_TRUE(job_rank{narrow} == 7);
}

TEST(ids, are_ordered_counted_hashed_and_printed) {
  std::unordered_set<job_rank> met;
  int count = 0;
  for (job_rank r = 0; r.below(4); ++r) {
    EXPECT_TRUE(met.insert(r).second);
    EXPECT_TRUE(r <= job_rank(3) && r > no_job_rank);
    ++count;
  }
  EXPECT_EQ(count, 4);
  EXPECT_TRUE(met.contains(3) && !met.contains(4));
  std::ostringstream text;
  text << job_rank(12) << ' ' << no_job_rank;
  EXPECT_EQ(text.str(), "12 -1");
  EXPECT_EQ(to_string(job_rank(12)), "12");
}

}  // namespace
}  // namespace sinew
