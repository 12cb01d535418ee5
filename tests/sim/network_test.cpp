// SPDX-License-Identifier: BSD-3-Clause
// The model against closed forms.
#include "sinew/sim/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"

namespace sinew::sim {
namespace {

/// 1 byte a ns everywhere, 1000 ns for the adapters, 10 for a hop.
constexpr const char* simple_speeds =
    ",latency=1000,hop=10,rate=1,injection=1,gap=0,node-latency=200,node-rate=10,memory-rate=20";

network made(const std::string& topology, int ranks, int on_a_node = 1) {
  return {parse_network(topology + simple_speeds), ranks, on_a_node};
}

/// Bytes that are fluid.
constexpr std::uint64_t much = 10'000;

/// Sends in the order of time, and says when all have come.
struct sent {
  int from;
  int to;
  std::uint64_t bytes;
  std::int64_t time = 0;
};
std::vector<std::int64_t> arrivals(network& net, const std::vector<sent>& all) {
  std::vector<std::int64_t> come(all.size(), -1);
  std::vector<network::left> left;
  std::int64_t known_until = all.front().time;
  const auto take = [&](std::int64_t time) {
    left.clear();
    net.advance(time, left);
    for (const network::left& each : left) {
      EXPECT_EQ(come[each.number], -1);
      EXPECT_GE(each.arrival, known_until + net.least_delay()) << "what comes soon is known";
      come[each.number] = each.arrival;
    }
    known_until = time;
  };
  const auto take_until = [&](std::int64_t time) {
    for (std::int64_t next = net.next_change(); next < time; next = net.next_change()) {
      take(next);
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    take_until(all[i].time);
    if (all[i].time > known_until) {
      take(all[i].time);
    }
    if (const auto known = net.send({all[i].from, all[i].to, all[i].bytes, i}, all[i].time)) {
      come[i] = *known;
    }
  }
  take_until(std::numeric_limits<std::int64_t>::max());
  return come;
}
std::int64_t arrival_of(network& net, const sent& one) { return arrivals(net, {one}).front(); }

using times = std::vector<std::int64_t>;

TEST(network, one_message_takes_latency_hops_and_bytes) {
  network net = made("mesh:8", 8);
  EXPECT_EQ(arrival_of(net, {0, 1, 0, 0}), 1010);
  EXPECT_EQ(arrival_of(net, {0, 5, 0, 5000}), 5000 + 1050);
  EXPECT_EQ(arrival_of(net, {0, 5, 500, 10000}), 10000 + 1050 + 500) << "links pass it on at once";
  EXPECT_EQ(arrival_of(net, {0, 5, much, 20000}), 20000 + 1050 + much);
}

TEST(network, short_messages_take_a_link_one_after_the_other) {
  network net = made("mesh:4", 4);
  EXPECT_EQ(arrivals(net, {{0, 2, 400}, {1, 3, 400}, {2, 1, 400}}),
            (times{1020 + 400, 10 + 400 + 1020 + 400, 1010 + 400}))
      << "after the first one's link 1-2; the other direction is free";
}

TEST(network, a_node_sends_one_short_message_after_the_other) {
  network net = made("mesh:3", 3);
  EXPECT_EQ(arrivals(net, {{1, 0, 500}, {1, 2, 500}}), (times{1010 + 500, 500 + 1010 + 500}));
}

TEST(network, two_flows_share_a_link) {
  network net = made("mesh:4", 4);
  EXPECT_EQ(arrivals(net, {{0, 2, much}, {1, 3, much}, {2, 1, much}}),
            (times{1020 + 2 * much, 1020 + 2 * much, 1010 + much}))
      << "each has half of link 1-2; the other direction is free";
}

// The second one begins when half of the first has gone, and they share until that has gone.
TEST(network, a_flow_is_slower_while_there_is_another_one) {
  network net = made("mesh:4", 4);
  EXPECT_EQ(arrivals(net, {{0, 2, much}, {1, 3, much, much / 2}}),
            (times{1020 + much / 2 + much, 1020 + much / 2 + much + much / 2}));
}

TEST(network, one_short_message_does_not_wait_for_flows_of_others) {
  network net = made("mesh:4", 4);
  EXPECT_EQ(arrivals(net, {{0, 2, much}, {1, 3, 100}}), (times{1020 + much, 1020 + 100}));
}

TEST(network, nothing_overtakes_between_two_ranks) {
  network net = made("mesh:4", 4);
  EXPECT_EQ(arrivals(net, {{0, 2, much}, {0, 2, 100}, {0, 2, much}}),
            (times{1020 + much, 1020 + much + 100, 1020 + much + 100 + much}));
}

// Three flows to a node whose only link is 1-0; a fourth one crosses half of its way.
TEST(network, an_incast_shares_the_last_link) {
  network net = made("mesh:5", 5);
  EXPECT_EQ(arrivals(net, {{1, 0, much}, {2, 0, much}, {3, 0, much}}),
            (times{1010 + 3 * much, 1020 + 3 * much, 1030 + 3 * much}));
  network star = made("fattree:1;5;1;1", 5);
  EXPECT_EQ(arrivals(star, {{1, 0, much}, {2, 0, much}, {3, 0, much}, {4, 0, much}}),
            times(4, 1020 + 4 * much));
}

// Link 2-3 carries three flows, so the one that also takes 0-1 has a third; its near link has two
// thirds left for another one.
TEST(network, a_flow_that_is_slow_elsewhere_leaves_its_near_link_to_others) {
  network net = made("mesh:4,injection=100", 4);
  const times come = arrivals(net, {{0, 3, 9000}, {2, 3, 9000}, {2, 3, 0}, {0, 1, 9000}});
  EXPECT_EQ(come[0], 1030 + 18000) << "half of link 2-3";
  EXPECT_EQ(come[3], 1010 + 18000) << "half of link 0-1, though the first could not use more";
  network three = made("mesh:4", 8, 2);  // two ranks on a node, which send 2-3 in two flows
  const times crowded = arrivals(three, {{0, 6, 9000}, {4, 6, 9000}, {5, 7, 9000}, {1, 2, 9000}});
  EXPECT_EQ(crowded[0], 1030 + 27000);
  EXPECT_EQ(crowded[1], 1010 + 27000);
  EXPECT_EQ(crowded[3], 1010 + 13500) << "two thirds of link 0-1";
}

TEST(network, what_ends_gives_its_share_to_others) {
  network net = made("fattree:1;3;1;1", 3);
  // Half each until 20000; then all of what is left, 10000 bytes.
  EXPECT_EQ(arrivals(net, {{1, 0, 10000}, {2, 0, 20000}}), (times{1020 + 20000, 1020 + 30000}));
}

TEST(network, ranks_of_a_node_do_without_the_adapter) {
  network net = made("mesh:2", 4, 2);
  EXPECT_EQ(arrivals(net, {{0, 1, 1000}, {1, 2, 0}}), (times{100 + 100, 1010}));
  EXPECT_EQ(arrival_of(net, {0, 1, 100000, 1000}), 1000 + 100 + 10000);
}

// Four pairs could copy 10 bytes a ns each, and all of a node 20.
TEST(network, ranks_of_a_node_share_its_memory) {
  network net = made("mesh:2", 16, 8);
  EXPECT_EQ(arrivals(net, {{0, 1, 20000}, {2, 3, 20000}}), times(2, 100 + 2000));
  EXPECT_EQ(arrivals(net, {{0, 1, 20000, 9000},
                           {2, 3, 20000, 9000},
                           {4, 5, 20000, 9000},
                           {6, 7, 20000, 9000},
                           {8, 9, 20000, 9000}}),
            (times{9000 + 100 + 4000, 9000 + 100 + 4000, 9000 + 100 + 4000, 9000 + 100 + 4000,
                   9000 + 100 + 2000}))
      << "the last one is on the other node";
}

TEST(network, cables_side_by_side_are_one_faster_link) {
  network net = made("fattree:1;2;1;4", 2);
  EXPECT_EQ(arrivals(net, {{0, 1, 400}, {0, 1, much}}), (times{1020 + 400, 1020 + much}))
      << "the adapter's rate is the limit";
  EXPECT_EQ(net.carried().size(), 4U);
  EXPECT_EQ(*std::max_element(net.carried().begin(), net.carried().end()), 400 + much);
}

TEST(network, a_ring_turns_in_the_time_of_one_step) {
  for (const int ranks : {8, 200}) {  // more than most_exact_flows, too
    network net = made("torus:" + std::to_string(ranks), ranks);
    std::vector<sent> all;
    for (int r = 0; r < ranks; ++r) {
      all.push_back({r, (r + 1) % ranks, much});
    }
    EXPECT_EQ(arrivals(net, all), times(all.size(), 1010 + much));
  }
}

// With many flows rates are fair at most a latency late.
TEST(network, many_flows_are_nearly_fair) {
  constexpr int ranks = 201;
  network net = made("fattree:1;201;1;1", ranks);
  std::vector<sent> all;
  for (int r = 1; r < ranks; ++r) {
    all.push_back({r, 0, much, r});
  }
  for (const std::int64_t time : arrivals(net, all)) {
    EXPECT_NEAR(static_cast<double>(time), 200. * much, 3000.);
  }
}

// Random traffic: what comes soon is known, and links carry no more than they can.
TEST(network, links_are_never_faster_than_they_are) {
  random_generator random(11);
  for (int round = 0; round < 20; ++round) {
    network net = made("torus:3x3", 18, 2);
    std::vector<sent> all;
    std::int64_t time = 0;
    for (int i = 0; i < 300; ++i) {
      time += static_cast<std::int64_t>(random.below(4000));
      const auto any = [&] { return static_cast<int>(random.below(18)); };
      all.push_back({any(), any(), 2100 + random.below(20000), time});
    }
    const times come = arrivals(net, all);
    const std::uint64_t most = *std::max_element(net.carried().begin(), net.carried().end());
    EXPECT_GE(*std::max_element(come.begin(), come.end()), static_cast<std::int64_t>(most));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool inside = all[i].from / 2 == all[i].to / 2;
      EXPECT_GE(come[i] - all[i].time,
                static_cast<std::int64_t>(inside ? 100 + all[i].bytes / 10 : 1010 + all[i].bytes));
    }
  }
}

TEST(network, speeds_are_written_and_read) {
  network_speeds speeds = presets().front().speeds;
  speeds.latency = 12345;
  speeds.memory_rate = 0.5;
  const std::string path = ::testing::TempDir() + "/some.speeds";
  std::ofstream(path) << "# measured\n" << to_text(speeds);
  EXPECT_EQ(to_text(parse_network("torus:4,speeds=" + path).speeds), to_text(speeds));
  EXPECT_EQ(parse_network("torus:4,speeds=" + path + ",latency=1").speeds.latency, 1);
  std::ofstream(path) << "latency=2\n";
  EXPECT_EQ(parse_network("torus:4,speeds=" + path).speeds.latency, 2);
  EXPECT_EQ(parse_network("torus:4,speeds=" + path).speeds.hop_latency, 32)
      << "the torus' usual one";
  for (const char* const wrong : {"latency\n", "latency=1 hop=2\n", "speeds=tofu\n", "fast=1\n"}) {
    std::ofstream(path) << wrong;
    EXPECT_THROW((void)parse_network("torus:4,speeds=" + path), error) << wrong;
  }
}

TEST(network, without_a_topology_all_nodes_are_at_one_switch) {
  for (const char* const text : {"", "speeds=tofu", "latency=3,speeds=tofu"}) {
    const network_choice made = parse_network(text, 5);
    EXPECT_EQ(made.topology.endpoints(), 5U);
    EXPECT_EQ(made.topology.links(), 10U);
    EXPECT_EQ(made.speeds.link_rate, *text == 0 ? 12 : 6.8);
  }
}

TEST(network, speeds_come_from_the_file_that_has_them) {
  const std::string path = ::testing::TempDir() + "/platform.xml";
  std::ofstream(path) << "<platform version=\"4.1\"><cluster id=\"t\" prefix=\"n-\" suffix=\"\" "
                         "radical=\"0-3\" speed=\"1Gf\" bw=\"2GBps\" lat=\"50ns\" "
                         "topology=\"TORUS\" topo_parameters=\"4\"/></platform>";
  EXPECT_EQ(parse_network(path).speeds.link_rate, 2);
  EXPECT_NEAR(parse_network(path).speeds.hop_latency, 50, 1e-9);
  EXPECT_EQ(parse_network(path + ",rate=3").speeds.link_rate, 3);
}

TEST(network, texts_are_read_and_refused) {
  EXPECT_EQ(parse_network("mira:512").topology.name(), "4x4x4x4x2");
  EXPECT_EQ(parse_network("mira:512,hop=50").speeds.hop_latency, 50);
  EXPECT_EQ(parse_network("fattree:2;4,4;1,2;1,2,rate=3").topology.name(), "fattree:2;4,4;1,2;1,2");
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
