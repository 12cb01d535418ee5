// SPDX-License-Identifier: BSD-3-Clause
// The model against closed forms.
#include "sinew/sim/network.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sinew/base/error.hpp"

namespace sinew::sim {
namespace {

/// 1 byte a ns everywhere, 1000 ns for the adapters, 10 for a hop.
constexpr const char* simple_speeds =
    ",latency=1000,hop=10,rate=1,injection=1,gap=0,node-latency=100,node-rate=10";

network made(const std::string& topology, int ranks, int on_a_node = 1) {
  return {parse_network(topology + simple_speeds), ranks, on_a_node};
}

TEST(network, one_message_takes_latency_hops_and_bytes) {
  network net = made("mesh:8", 8);
  EXPECT_EQ(net.arrival(0, 1, 0, 0), 1010);
  EXPECT_EQ(net.arrival(0, 5, 0, 5000), 5000 + 1050);
  EXPECT_EQ(net.arrival(0, 5, 4000, 10000), 10000 + 1050 + 4000) << "links pass it on at once";
}

TEST(network, two_flows_share_a_link) {
  network net = made("mesh:4", 4);
  EXPECT_EQ(net.arrival(0, 2, 1000, 0), 1020 + 1000);
  EXPECT_EQ(net.arrival(1, 3, 1000, 0), 10 + 1000 + 1020 + 1000) << "after the first's link 1-2";
  EXPECT_EQ(net.arrival(2, 1, 1000, 0), 1010 + 1000) << "the other direction is free";
}

TEST(network, a_node_sends_one_message_after_the_other) {
  network net = made("mesh:3", 3);
  EXPECT_EQ(net.arrival(1, 0, 500, 0), 1010 + 500);
  EXPECT_EQ(net.arrival(1, 2, 500, 0), 500 + 1010 + 500);
}

TEST(network, ranks_of_a_node_do_without_the_adapter) {
  network net = made("mesh:2", 4, 2);
  EXPECT_EQ(net.arrival(0, 1, 1000, 0), 100 + 100);
  EXPECT_EQ(net.arrival(1, 2, 0, 0), 1010);
}

TEST(network, cables_side_by_side_are_one_faster_link) {
  network net = made("fattree:1;2;1;4", 2);
  EXPECT_EQ(net.arrival(0, 1, 1000, 0), 1020 + 1000) << "the adapter's rate is the limit";
  EXPECT_EQ(net.carried().size(), 4U);
}

TEST(network, a_ring_turns_in_the_time_of_one_step) {
  network net = made("torus:8", 8);
  for (int r = 0; r < 8; ++r) {
    EXPECT_EQ(net.arrival(r, (r + 1) % 8, 1000, 0), 1010 + 1000);
  }
}

TEST(network, texts_are_read_and_refused) {
  EXPECT_EQ(parse_network("mira:512").topology, "mira:512");
  EXPECT_EQ(parse_network("mira:512,hop=50").speeds.hop_latency, 50);
  EXPECT_EQ(parse_network("fattree:2;4,4;1,2;1,2,rate=3").topology, "fattree:2;4,4;1,2;1,2");
  EXPECT_EQ(parse_network("torus:4,speeds=tofu,latency=1").speeds.link_rate, 6.8);
  for (const char* const wrong : {"torus:4,hop=", "torus:4,hop=-1", "torus:4,hop=1,colour=2",
                                  "torus:4,speeds=fast", "torus:4,rate=0", "torus:4,rate=nan"}) {
    EXPECT_THROW((void)parse_network(wrong), error) << wrong;
  }
  EXPECT_THROW((network(parse_network("torus:4"), 5, 1)), error);
  EXPECT_NO_THROW((network(parse_network("torus:4"), 8, 2)));
}

}  // namespace
}  // namespace sinew::sim
