// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sim/faults.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sinew/base/error.hpp"

namespace sinew::sim {
namespace {

TEST(faults, texts_and_back) {
  for (const char* const text : {"kill:2@153000", "slow:1@100-300+20", "kill:0@0"}) {
    EXPECT_EQ(to_text(parse_fault(text)), text);
  }
  EXPECT_EQ(parse_fault("slow:1@100-300+20"), (fault{fault_kind::slow, 1, 100, 300, 20}));
  for (const char* const text :
       {"", "kill", "kill:", "kill:1", "kill:1@", "kill:-1@5", "kill:1@5x", "slow:1@5",
        "slow:1@5-6", "slow:1@5-6+", "cut:1@5", "kill:99999999999@1"}) {
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
  EXPECT_GT(times.size(), 100U);
}

}  // namespace
}  // namespace sinew::sim
