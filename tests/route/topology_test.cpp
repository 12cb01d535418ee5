// SPDX-License-Identifier: BSD-3-Clause
// Networks: shapes, numbering, files.
#include "sinew/route/topology.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "sinew/base/error.hpp"
#include "sinew/route/machine.hpp"

namespace sinew::route {
namespace {

TEST(topology, a_torus_has_its_ports) {
  const topology net = make_torus({4, 3, 2});
  EXPECT_EQ(net.nodes(), 24u);
  // Two rings of more than two nodes give two links per node, a ring of two one.
  EXPECT_EQ(net.links(), 24u * 5);
  for (node_id n = 0; n < net.nodes(); ++n) {
    for (std::size_t d = 0; d < 3; ++d) {
      const link_id up = net.step(n, d, true);
      ASSERT_NE(up, nothing);
      EXPECT_EQ(net.from(up), n);
      const node_id m = net.to(up);
      EXPECT_EQ(net.coordinate(m, d), (net.coordinate(n, d) + 1) % net.grid().sizes[d]);
      EXPECT_EQ(net.to(net.step(m, d, false)), n);
    }
    EXPECT_EQ(net.step(n, 2, true), net.step(n, 2, false));
  }
}

TEST(topology, a_ring_of_two_may_have_both_cables) {
  EXPECT_EQ(make_torus({4, 2}, ring_of_two::two_cables).capacity(0), 2);
  EXPECT_EQ(make_torus({4, 2}).capacity(0), 1);
  EXPECT_EQ(parse_topology("torus2:2x2").capacity(0), 2);
}

TEST(topology, a_mesh_has_borders) {
  const topology net = make_mesh({3, 2});
  EXPECT_EQ(net.links(), 2u * (2 * 2 + 3));
  EXPECT_EQ(net.step(0, 0, false), nothing);
  EXPECT_EQ(net.step(4, 0, true), nothing);
  const topology mixed = parse_topology("3mx4");
  EXPECT_EQ(mixed.step(0, 0, false), nothing);
  EXPECT_NE(mixed.step(0, 1, false), nothing);
}

TEST(topology, a_hypercube_joins_numbers_that_differ_in_one_bit) {
  const topology net = make_hypercube(5);
  EXPECT_EQ(net.links(), 32u * 5);
  for (link_id l = 0; l < net.links(); ++l) {
    EXPECT_EQ(__builtin_popcount(net.from(l) ^ net.to(l)), 1);
  }
}

TEST(topology, links_into_a_node_are_the_links_to_it) {
  const topology net = parse_topology("fattree:2;4,4;1,2;1,2");
  std::size_t seen = 0;
  for (node_id n = 0; n < net.nodes(); ++n) {
    for (const link_id l : net.links_into(n)) {
      EXPECT_EQ(net.to(l), n);
      EXPECT_EQ(net.find(net.from(l), n), l);
      ++seen;
    }
  }
  EXPECT_EQ(seen, net.links());
}

TEST(topology, a_fat_tree_counts_levels) {
  // 16 hosts, 4 switches of 4 hosts, 2 roots joined to each by 2 cables.
  const topology net = parse_topology("fattree:2;4,4;1,2;1,2");
  EXPECT_EQ(net.endpoints(), 16u);
  EXPECT_EQ(net.nodes(), 16u + 4 + 2);
  EXPECT_EQ(net.links(), 2u * (16 + 8));
  EXPECT_EQ(net.capacity(net.find(16, 20)), 2);
  for (node_id h = 0; h < 16; ++h) {
    EXPECT_EQ(net.to(net.first_link(h)), 16 + h / 4);
  }
}

TEST(topology, a_dragonfly_reaches_every_group) {
  const topology net = parse_topology("dragonfly:3,4;4,3;5,1;2");
  EXPECT_EQ(net.endpoints(), 3u * 4 * 5 * 2);
  EXPECT_EQ(net.nodes(), net.endpoints() + 60);
  std::set<std::pair<std::uint32_t, std::uint32_t>> groups;
  for (link_id l = 0; l < net.links(); ++l) {
    if (net.capacity(l) == 4) {
      groups.emplace((net.from(l) - 120) / 20, (net.to(l) - 120) / 20);
    }
  }
  EXPECT_EQ(groups.size(), 6u);
}

TEST(topology, equal_links_become_one) {
  const topology net("pair", 2, 2, {{0, 1, 1}, {1, 0, 1}, {0, 1, 2.5}});
  EXPECT_EQ(net.links(), 2u);
  EXPECT_EQ(net.capacity(0), 3.5);
}

TEST(topology, failed_links_keep_their_number) {
  const topology net = make_torus({4});
  const std::pair<node_id, node_id> dead[] = {{0, 1}};
  const topology less = net.without(dead);
  EXPECT_EQ(less.links(), net.links());
  EXPECT_EQ(less.capacity(net.find(0, 1)), 0);
  EXPECT_EQ(less.capacity(net.find(1, 0)), 1);
  EXPECT_NE(less.fingerprint(), net.fingerprint());
  const std::pair<node_id, node_id> wrong[] = {{0, 2}};
  EXPECT_THROW((void)net.without(wrong), error);
}

TEST(topology, partitions_of_mira) {
  for (const std::uint32_t nodes : {512u, 1024u, 2048u, 4096u, 8192u}) {
    EXPECT_EQ(make_torus(mira_shape(nodes)).nodes(), nodes);
  }
  EXPECT_THROW((void)mira_shape(100), error);
}

std::string complaint(const std::function<void()>& what) {
  try {
    what();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(topology, unknown_shapes_say_what_is_accepted) {
  for (const char* text : {"4x0x4", "4x", "torus:", "hypercube:99", "fattree:1;2", "dragonfly:1",
                           "nowhere", "mesh:4xq"}) {
    EXPECT_FALSE(complaint([&] { (void)parse_topology(text); }).empty()) << text;
  }
  EXPECT_NE(complaint([] { (void)parse_topology("4x4y4"); }).find("shapes are"), std::string::npos);
  EXPECT_NE(complaint([] { (void)parse_topology("4096x4096x64"); }).find("MiB"), std::string::npos);
}

TEST(topology, a_text_too_long_for_a_name_is_refused) {
  const std::string text(5000, 'x');
  EXPECT_NE(complaint([&] { (void)parse_topology(text); }).find("unknown shape"),
            std::string::npos);
}

TEST(topology, edge_lists) {
  const topology net = topology_from_edges("# a triangle\n0 1\n1 2 2.5\n\n2 0 # back\n", "t");
  EXPECT_EQ(net.nodes(), 3u);
  EXPECT_EQ(net.links(), 6u);
  EXPECT_EQ(net.capacity(net.find(2, 1)), 2.5);
  const topology one_way = topology_from_edges("directed\nnodes 4\n0 1\n", "t");
  EXPECT_EQ(one_way.links(), 1u);
  EXPECT_EQ(one_way.nodes(), 4u);
}

TEST(topology, malformed_edge_lists_name_the_line) {
  const auto says = [](const char* text) {
    return complaint([&] { (void)topology_from_edges(text, "file"); });
  };
  EXPECT_NE(says("0 1\n1 x\n").find("file:2"), std::string::npos);
  EXPECT_NE(says("0 1\n\n1 2 -3\n").find("file:3"), std::string::npos);
  EXPECT_NE(says("0 0\n").find("itself"), std::string::npos);
  EXPECT_NE(says("0 1 2 3\n").find("file:1"), std::string::npos);
  EXPECT_NE(says("").find("no link"), std::string::npos);
  EXPECT_NE(says("0 99999999999\n").find("node's number"), std::string::npos);
}

TEST(topology, json) {
  const topology net =
      topology_from_json(R"({"nodes": 3, "endpoints": 2, "links": [[0, 2], [1, 2, 4]]})", "j");
  EXPECT_EQ(net.endpoints(), 2u);
  EXPECT_EQ(net.capacity(net.find(2, 1)), 4);
  const auto says = [](const char* text) {
    return complaint([&] { (void)topology_from_json(text, "j"); });
  };
  EXPECT_NE(says("{\"nodes\": 3,\n\"links\": [[0, 7]]}").find("j:2"), std::string::npos);
  EXPECT_NE(says("{\"nodes\": 2").find("j:1"), std::string::npos);
  EXPECT_NE(says("{}").find("nodes"), std::string::npos);
  EXPECT_NE(says(std::string(1000, '[').c_str()).find("deep"), std::string::npos);
}

TEST(topology, platforms_of_simgrid) {
  const topology net = topology_from_simgrid(
      "<platform version=\"4.1\">\n<zone id=\"w\" routing=\"Full\">\n"
      "<cluster id=\"c\" prefix=\"n-\" radical=\"0-15\" suffix=\"\" speed=\"1Gf\" bw=\"1GBps\"\n"
      " lat=\"1us\" topology=\"TORUS\" topo_parameters=\"2,4,2\"/></zone></platform>",
      "p.xml");
  EXPECT_EQ(net.name(), "p.xml");  // by which the plan's file finds it again
  EXPECT_EQ(net.grid().sizes, (std::vector<std::uint32_t>{2, 4, 2}));
  ASSERT_TRUE(net.speeds());
  EXPECT_DOUBLE_EQ(net.speeds()->bandwidth, 1e9);
  EXPECT_DOUBLE_EQ(net.speeds()->hop_latency, 1e-6);
  const machine costs = machine_of(net);
  EXPECT_DOUBLE_EQ(costs.link_bandwidth, 1e9);
  EXPECT_DOUBLE_EQ(costs.hop_latency, 1e-6);
  const auto says = [](const char* text) {
    return complaint([&] { (void)topology_from_simgrid(text, "p"); });
  };
  EXPECT_NE(says("<platform/>").find("cluster"), std::string::npos);
  EXPECT_NE(says("<cluster radical=\"0-3\" bw=\"fast\"/>").find("bw=\"fast\""), std::string::npos);
  EXPECT_NE(
      says("\n<cluster radical=\"0-3\" topology=\"TORUS\" topo_parameters=\"2,4\"/>").find("p:2"),
      std::string::npos);
  EXPECT_NE(says("<cluster radical=\"0-3\" topology=\"VIVALDI\"/>").find("VIVALDI"),
            std::string::npos);
}

// All that four hosts send crosses a backbone with the bandwidth of two of their links.
TEST(topology, backbone_and_limiter_of_a_simgrid_cluster) {
  const topology net = topology_from_simgrid(
      "<cluster id=\"c\" radical=\"0-3\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\""
      " bb_bw=\"2Gbps\" bb_lat=\"20us\" limiter_link=\"100MBps\"/>",
      "flat.xml");
  EXPECT_EQ(net.endpoints(), 4u);
  const link_id backbone = net.find(4, 5);
  ASSERT_NE(backbone, nothing);
  EXPECT_DOUBLE_EQ(net.capacity(backbone), 2.0);
  EXPECT_DOUBLE_EQ(machine_of(net).hop_latency, 40e-6);
  EXPECT_DOUBLE_EQ(machine_of(net).injection_bandwidth, 100e6);
}

TEST(topology, speeds_are_read_with_their_units) {
  EXPECT_EQ(parse_bandwidth("1.8e9"), 1.8e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("125MBps").value_or(0), 125e6);
  EXPECT_DOUBLE_EQ(parse_bandwidth("10Gbps").value_or(0), 1.25e9);
  EXPECT_EQ(parse_bandwidth("1KiBps"), 1024);
  EXPECT_EQ(parse_bandwidth("8bps"), 1);
  EXPECT_DOUBLE_EQ(parse_latency("50us").value_or(0), 50e-6);
  EXPECT_EQ(parse_latency("0"), 0);
  EXPECT_EQ(parse_latency("2s"), 2);
  for (const char* wrong : {"", "fast", "-1", "1 parsec", "nan", "inf", "Bps", "us", "1XBps"}) {
    EXPECT_FALSE(parse_bandwidth(wrong)) << wrong;
    EXPECT_FALSE(parse_latency(wrong)) << wrong;
  }
  EXPECT_FALSE(parse_bandwidth("0"));
}

}  // namespace
}  // namespace sinew::route
