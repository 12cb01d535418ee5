// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sim/link_faults.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sinew/base/error.hpp"

namespace sinew::sim {
namespace {

constexpr std::int64_t detour = link_faults::detour_ns;
constexpr std::int64_t never = link_faults::never;

/// A ring of six nodes, whose links carry 1 byte a ns; or another network.
class links : public testing::Test {
 protected:
  link_faults with(const std::vector<const char*>& texts) {
    std::vector<fault> all;
    for (const char* const each : texts) {
      all.push_back(parse_fault(each));
    }
    return {net, 1, all};
  }
  static std::vector<route::node_id> way(const route::topology& net, link_faults& by, int from,
                                         int to, std::int64_t time) {
    std::vector<route::link_id> out;
    std::vector<route::node_id> nodes;
    if (by.append(static_cast<route::node_id>(from), static_cast<route::node_id>(to), time, out)) {
      for (const route::link_id l : out) {
        nodes.push_back(net.to(l));
      }
    }
    return nodes;
  }
  route::topology net = route::parse_topology("torus:6");
  using nodes = std::vector<route::node_id>;
};

TEST_F(links, a_message_waits_until_another_way_is_known_and_takes_that) {
  link_faults by = with({"link:0-1@1000"});
  EXPECT_EQ(by.departure(0, 1, 10, 900), 900);
  EXPECT_EQ(way(net, by, 0, 1, 999), (nodes{1}));
  EXPECT_EQ(by.departure(1, 0, 10, 1000), 1000 + detour) << "both directions are cut";
  EXPECT_EQ(by.departure(0, 2, 10, 5000), 1000 + detour);
  EXPECT_EQ(by.departure(0, 5, 10, 5000), 5000) << "its way is whole";
  EXPECT_EQ(way(net, by, 0, 2, 1000 + detour), (nodes{5, 4, 3, 2}));
  EXPECT_EQ(way(net, by, 0, 5, 5000), (nodes{5}));
  EXPECT_EQ(by.departure(0, 1, 10, 500'000), 500'000) << "it has been known for long";
}

TEST_F(links, a_message_goes_when_its_link_is_back_if_that_is_sooner) {
  link_faults by = with({"link:0-1@1000-2000"});
  EXPECT_EQ(by.departure(0, 1, 10, 1500), 2000);
  EXPECT_EQ(way(net, by, 0, 1, 2000), (nodes{1}));
  EXPECT_EQ(by.departure(0, 1, 10, 2500), 2500);
  EXPECT_TRUE(by.lost().empty());
}

TEST_F(links, no_message_goes_before_an_earlier_one) {
  link_faults by = with({"link:0-1@1000-2000000"});
  EXPECT_EQ(by.departure(0, 1, 10, 1500), 1000 + detour);
  EXPECT_EQ(by.departure(0, 1, 10, 1600), 1000 + detour);
  link_faults slow = with({"link:0-1@0-10000/100"});
  EXPECT_EQ(slow.departure(0, 1, 200, 9000), 9000 + 99 * 200);
  EXPECT_EQ(slow.departure(0, 1, 10, 10'000), 9000 + 99 * 200) << "though the link is as usual";
}

TEST_F(links, where_there_is_no_way_messages_wait_or_are_lost) {
  link_faults back = with({"link:2-3@1000", "link:3-4@3000-9000"});
  EXPECT_EQ(back.departure(0, 3, 10, 4000), 1000 + detour) << "by the link that is back";
  EXPECT_TRUE(back.lost().empty());
  link_faults gone = with({"link:2-3@1000", "link:3-4@3000"});
  EXPECT_EQ(gone.departure(0, 3, 10, 4000), never);
  EXPECT_TRUE(way(net, gone, 3, 0, 4000).empty());
  EXPECT_EQ(gone.departure(0, 3, 10, 5000), never);
  const auto lost = gone.lost();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].node, 3U);
  EXPECT_EQ(lost[0].time, 3000 + cut_off_ns);
}

TEST_F(links, the_part_without_the_first_node_is_lost) {
  link_faults half = with({"link:0-1@0", "link:0-5@700-60000000"});
  EXPECT_EQ(half.lost().size(), 5U) << "node 0 has the launcher";
  net = route::parse_topology("fattree:1;4;1;1");  // nodes 0 to 3 at switch 4
  link_faults one = with({"link:4-2@5"});
  ASSERT_EQ(one.lost().size(), 1U);
  EXPECT_EQ(one.lost()[0].node, 2U);
}

TEST_F(links, a_slow_link_carries_one_message_after_the_other) {
  link_faults by = with({"link:1-2@0-100000/4"});
  EXPECT_EQ(by.departure(0, 2, 1000, 0), 3000) << "and 1000 more on the link";
  EXPECT_EQ(by.departure(1, 2, 1000, 0), 7000);
  EXPECT_EQ(by.departure(2, 1, 1000, 0), 3000) << "the other direction has a queue of its own";
  EXPECT_EQ(by.departure(3, 4, 1000, 0), 0);
  EXPECT_EQ(by.departure(0, 1, 1000, 0), 0);
}

TEST_F(links, links_that_are_not_there_are_refused) {
  for (const char* const text : {"link:0-2@5", "link:0-6@5", "link:0-0@5"}) {
    EXPECT_THROW((void)with({text}), error) << text;
  }
  EXPECT_FALSE(with({"kill:0@5"}).any());
}

}  // namespace
}  // namespace sinew::sim
