// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/parse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sinew::base {
namespace {

TEST(parse, parts_come_back) {
  EXPECT_EQ(join({}, ','), "");
  EXPECT_EQ(join({"", ""}, ','), ",");
  for (const char* const text : {"", "a", "a,b", ",a,", ",,"}) {
    EXPECT_EQ(join(split(text, ','), ','), text);
  }
}

TEST(parse, ranges_come_back) {
  for (const std::vector<int>& numbers :
       {std::vector<int>{}, {0}, {0, 1, 2, 5}, {3, 5, 7}, {0, 1, 3, 4, 9}}) {
    EXPECT_EQ(parse_ranges(ranges_text(numbers), 10), numbers) << ranges_text(numbers);
  }
  EXPECT_EQ(ranges_text({0, 1, 2, 5}), "0-2,5");
}

TEST(parse, ranges_ascend_and_stay_below_their_end) {
  for (const char* const text :
       {"10", "3-10", "-1", "2-1", "1,1", "0-4,3", "1,", ",1", "a", "1-", "1-2-3"}) {
    EXPECT_FALSE(parse_ranges(text, 10).has_value()) << text;
  }
  EXPECT_FALSE(parse_ranges("0-99999999999999999999", 10).has_value());
  EXPECT_FALSE(parse_ranges("0-2147483647", 1000).has_value());  // costs no memory
}

}  // namespace
}  // namespace sinew::base
