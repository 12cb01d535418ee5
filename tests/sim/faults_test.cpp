// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sim/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "sinew/base/error.hpp"

namespace sinew::sim {
namespace {

TEST(faults, texts_and_back) {
  for (const char* const text : {"kill:2@153000", "slow:1@100-300+20", "kill:0@0", "link:3-12@500",
                                 "link:0-1@5-9", "link:0-1@5-9/8"}) {
    EXPECT_EQ(to_text(parse_fault(text)), text);
  }
  EXPECT_EQ(parse_fault("slow:1@100-300+20"), (fault{fault_kind::slow, 1, 100, 300, 20}));
  for (const char* const text : {"",
                                 "kill",
                                 "kill:",
                                 "kill:1",
                                 "kill:1@",
                                 "kill:-1@5",
                                 "kill:1@5x",
                                 "slow:1@5",
                                 "slow:1@5-6",
                                 "slow:1@5-6+",
                                 "cut:1@5",
                                 "kill:99999999999@1",
                                 "link:1@5",
                                 "link:1-2",
                                 "link:1-2@5-",
                                 "link:1-2@5/3",
                                 "link:1-2@5-6/0",
                                 "link:1-2@5-6/",
                                 "link:1-@5",
                                 "link:99999999999-1@5"}) {
    EXPECT_THROW((void)parse_fault(text), error) << text;
  }
}

TEST(faults, a_seed_draws_the_same_and_seeds_draw_all) {
  const job_facts job{4, 2, 1000};
  std::set<int> ranks;
  std::set<std::int64_t> times;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto one = draw_faults("ranks", seed, job);
    EXPECT_EQ(one, draw_faults("ranks", seed, job));
    ASSERT_EQ(one.size(), 1U);
    ranks.insert(one[0].rank);
    times.insert(one[0].from_ns);
    EXPECT_LE(one[0].from_ns, 1000);
    const auto host = draw_faults("hosts", seed, job);
    ASSERT_EQ(host.size(), 2U);
    EXPECT_EQ(host[0].rank % 2, 0);
    EXPECT_EQ(host[1].rank, host[0].rank + 1);
    EXPECT_EQ(host[0].from_ns, host[1].from_ns);
    const auto slow = draw_faults("slow", seed, job);
    ASSERT_EQ(slow.size(), 1U);
    EXPECT_EQ(slow[0].what, fault_kind::slow);
    EXPECT_GE(slow[0].to_ns, slow[0].from_ns);
    EXPECT_GE(slow[0].later_ns, 1000);
  }
  EXPECT_EQ(ranks.size(), 4U);
  EXPECT_TRUE(draw_faults("links", 1, job).empty()) << "no link is used";
  EXPECT_GT(times.size(), 100U);
}

TEST(faults, links_are_drawn_of_those_in_use) {
  const job_facts job{4, 1, 1000, {{0, 1}, {2, 9}}};
  std::set<std::array<int, 2>> ends;
  int for_good = 0;
  int for_a_while = 0;
  int slow = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto drawn = draw_faults("links", seed, job);
    EXPECT_EQ(drawn, draw_faults("links", seed, job));
    ASSERT_EQ(drawn.size(), 1U);
    const fault& one = drawn[0];
    EXPECT_EQ(one.what, fault_kind::link);
    EXPECT_GT(one.to_ns, one.from_ns);
    EXPECT_LE(one.from_ns, 1000);
    EXPECT_EQ(one, parse_fault(to_text(one))) << to_text(one);
    ends.insert(one.ends);
    ++(one.times != 0 ? slow : one.to_ns == INT64_MAX ? for_good : for_a_while);
    EXPECT_EQ(may_kill(one), one.times == 0 && one.to_ns == INT64_MAX);
  }
  EXPECT_EQ(ends.size(), 2U);
  EXPECT_GT(std::min({for_good, for_a_while, slow}), 30);
}

}  // namespace
}  // namespace sinew::sim
