// SPDX-License-Identifier: BSD-3-Clause
// Costs are given, so that each test says which way is right, and when that changes.
#include "rma/cheaper_way.hpp"

#include <iterator>

#include "gtest/gtest.h"

namespace sinew::rma {
namespace {

/// How many of `uses` went the second way.
int go(cheaper_way& way, int uses, std::uint64_t first, std::uint64_t second) {
  int seconds = 0;
  for (int i = 0; i < uses; ++i) {
    seconds += way.second() ? 1 : 0;
    way.note(way.second() ? second : first);
  }
  return seconds;
}

TEST(cheaper_way, the_cheaper_one_is_found_and_kept) {
  for (const bool second_is_cheaper : {false, true}) {
    cheaper_way way;
    const std::uint64_t costs[] = {100, 50};
    const int seconds =
        go(way, 20000, costs[second_is_cheaper ? 0 : 1], costs[second_is_cheaper ? 1 : 0]);
    const int wrong = second_is_cheaper ? 20000 - seconds : seconds;
    EXPECT_LE(wrong, 200);
    EXPECT_GE(wrong, cheaper_way::window);  // the other one was tried
  }
}

TEST(cheaper_way, a_dearer_way_is_left_at_once) {
  cheaper_way way;
  go(way, 20000, 50, 100);
  EXPECT_GE(go(way, 1000, 500, 100), 900);
}

TEST(cheaper_way, what_has_become_cheaper_is_found_later) {
  cheaper_way way;
  go(way, 2000, 100, 50);
  EXPECT_TRUE(way.second());
  go(way, 20000, 10, 50);
  EXPECT_FALSE(way.second());
}

TEST(cheaper_way, one_interruption_changes_nothing) {
  cheaper_way way;
  for (int phase = 0; phase < 100; ++phase) {
    const std::uint64_t late = phase % 2 == 0 ? 1'000'000 : 0;
    for (int i = 0; i < cheaper_way::window; ++i) {
      way.note((way.second() ? 100U : 50U) + (i == 2 ? late : 0));
    }
  }
  EXPECT_FALSE(way.second());
}

// Eight arrays that together fill the caches: the first way costs 90 once they are there, and more
// until then, the second one always 150.
TEST(cheaper_way, a_way_is_judged_when_the_caches_have_followed) {
  cheaper_way way;
  int since = 0;
  int seconds = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t warming[] = {310, 200, 120, 95};
    const auto pass = static_cast<std::size_t>(since / 8);
    since = way.second() ? 0 : since + 1;
    seconds += way.second() ? 1 : 0;
    way.note(way.second() ? 150U : (pass < std::size(warming) ? warming[pass] : 90U));
  }
  EXPECT_LE(seconds, 500);
}

}  // namespace
}  // namespace sinew::rma
