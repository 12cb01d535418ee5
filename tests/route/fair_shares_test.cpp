// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/route/fair_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "sinew/base/random.hpp"

namespace sinew::route {
namespace {

using flow_id = fair_shares::flow_id;
using things = std::vector<fair_shares::thing_id>;
constexpr double no_limit = std::numeric_limits<double>::infinity();

TEST(fair_shares, flows_share_a_thing_evenly) {
  fair_shares shares({6});
  const flow_id one = shares.add(things{0});
  EXPECT_FALSE(shares.is_settled());
  EXPECT_EQ(shares.settle().size(), 1U);
  EXPECT_EQ(shares.rate(one), 6);
  const flow_id two = shares.add(things{0}), three = shares.add(things{0});
  EXPECT_EQ(shares.settle().size(), 3U);
  EXPECT_EQ(shares.rate(one), 2);
  shares.remove(two);
  EXPECT_EQ(shares.settle().size(), 2U);
  EXPECT_EQ(shares.rate(three), 3);
  EXPECT_EQ(shares.flows(), 2U);
}

// Bertsekas and Gallager, example 6.5.2: what one flow cannot use another one gets.
TEST(fair_shares, what_a_flow_leaves_goes_to_others) {
  fair_shares shares({1, 1, 1});
  const flow_id slow[] = {shares.add(things{1}), shares.add(things{1}), shares.add(things{0, 1})};
  const flow_id fast = shares.add(things{0});
  const flow_id alone = shares.add(things{2});
  (void)shares.settle();
  for (const flow_id f : slow) {
    EXPECT_NEAR(shares.rate(f), 1. / 3, 1e-15);
  }
  EXPECT_NEAR(shares.rate(fast), 2. / 3, 1e-15);
  EXPECT_EQ(shares.rate(alone), 1);
}

TEST(fair_shares, what_shares_nothing_is_not_looked_at) {
  fair_shares shares({1, 1});
  (void)shares.add(things{0});
  (void)shares.settle();
  const flow_id other = shares.add(things{1});
  const auto moved = shares.settle();
  EXPECT_EQ(std::vector<flow_id>(moved.begin(), moved.end()), std::vector<flow_id>{other});
  EXPECT_TRUE(shares.settle().empty());
  EXPECT_EQ(shares.rate(other), 1);
}

TEST(fair_shares, a_flow_may_have_a_limit_of_its_own) {
  fair_shares shares({6});
  const flow_id limited = shares.add(things{0}, 1), free = shares.add(things{0});
  (void)shares.settle();
  EXPECT_EQ(shares.rate(limited), 1);
  EXPECT_EQ(shares.rate(free), 5);
  EXPECT_EQ(shares.divide_evenly(free), 3);
}

struct known {
  things on;
  double most;
};

/// Nothing carries more than it can, and who wants more crosses something full on which nobody is
/// faster. Rates of which that is true are the max-min fair ones, and no others are.
void expect_fair(const fair_shares& shares, const std::vector<double>& rates,
                 const std::map<flow_id, known>& flows) {
  std::vector<double> sum(rates.size()), fastest(rates.size());
  for (const auto& [f, it] : flows) {
    for (const auto t : it.on) {
      sum[t] += shares.rate(f);
      fastest[t] = std::max(fastest[t], shares.rate(f));
    }
  }
  for (std::size_t t = 0; t < rates.size(); ++t) {
    EXPECT_LE(sum[t], rates[t] * (1 + 1e-9));
  }
  for (const auto& [f, it] : flows) {
    const double own = shares.rate(f);
    const bool is_held = std::any_of(it.on.begin(), it.on.end(), [&](const auto t) {
      return sum[t] >= rates[t] * (1 - 1e-9) && own >= fastest[t] * (1 - 1e-9);
    });
    EXPECT_TRUE(is_held || own == it.most) << "flow " << f;
  }
}

TEST(fair_shares, random_flows_come_and_go_and_all_is_fair) {
  random_generator random(7);
  std::vector<double> rates;
  for (int t = 0; t < 30; ++t) {
    rates.push_back(1 + static_cast<double>(random.below(100)));
  }
  fair_shares shares(rates);
  std::map<flow_id, known> flows;
  for (int step = 0; step < 2000; ++step) {
    if (flows.size() > 40 || (!flows.empty() && random.below(2) == 0)) {
      auto gone = flows.begin();
      std::advance(gone, random.below(flows.size()));
      shares.remove(gone->first);
      flows.erase(gone);
    } else {
      known fresh{{}, random.below(3) == 0 ? 1 + static_cast<double>(random.below(9)) : no_limit};
      for (fair_shares::thing_id t = 0; t < rates.size(); ++t) {
        if (random.below(10) == 0 || (t + 1 == rates.size() && fresh.on.empty())) {
          fresh.on.push_back(t);
        }
      }
      const flow_id f = shares.add(fresh.on, fresh.most);
      EXPECT_TRUE(flows.emplace(f, fresh).second);
    }
    if (random.below(3) != 0) {
      (void)shares.settle();
      expect_fair(shares, rates, flows);
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "step " << step;
  }
}

}  // namespace
}  // namespace sinew::route
