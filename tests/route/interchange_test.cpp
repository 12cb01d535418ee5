// SPDX-License-Identifier: BSD-3-Clause
// Files of other programs: what is written is read again as it was, and what is wrong names its
// line.
#include "sinew/route/interchange.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "sinew/route/machine.hpp"
#include "sinew/route/pattern.hpp"

namespace sinew::route {
namespace {

std::string complaint_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

void expect_says(const std::string& said, const std::string& words) {
  EXPECT_NE(said.find(words), std::string::npos) << said << "\nlacks: " << words;
}

constexpr const char* fabric = R"(#
# Topology file: generated on Tue Nov 24 10:00:00 2026
#
vendid=0x2c9
devid=0xbd36
switchguid=0x2c902004(2c902004)
Switch	36 "S-0002c902004"		# "leaf 1" enhanced port 0 lid 1 lmc 0
[1]	"H-00000001"[1](1) 		# "alpha HCA-1" lid 2 4xHDR
[2]	"H-00000002"[1](2) 		# "beta HCA-1" lid 3 4xHDR
[17]	"S-0002c902005"[1]		# "spine" lid 4 4xNDR
[18]	"S-0002c902005"[2](ext 7)		# "spine" lid 4 4xNDR

switchguid=0x2c902005(2c902005)
Switch	36 "S-0002c902005"		# "spine" base port 0 lid 4 lmc 0
[1]	"S-0002c902004"[17]		# "leaf 1" lid 1 4xNDR
[2]	"S-0002c902004"[18]		# "leaf 1" lid 1 4xNDR
[3]	"H-00000003"[1](3) 		# "alpha HCA-1" lid 5 4xHDR

caguid=0x1
Ca	1 "H-00000001"		# "alpha HCA-1"
[1](1) 	"S-0002c902004"[1]		# lid 2 lmc 0 "leaf 1" lid 1 4xHDR

caguid=0x2
Ca	1 "H-00000002"		# "beta HCA-1"
[1](2) 	"S-0002c902004"[2]		# lid 3 lmc 0 "leaf 1" lid 1 4xHDR

caguid=0x3
Ca	1 "H-00000003"		# "alpha HCA-1"
[1](3) 	"S-0002c902005"[3]		# lid 5 lmc 0 "spine" lid 4 4xHDR
)";

TEST(ibnetdiscover, a_fabric_with_its_rates_and_names) {
  const topology net = topology_from_ibnetdiscover(fabric, "f.ib");
  EXPECT_EQ(net.endpoints(), 3u);
  EXPECT_EQ(net.nodes(), 5u);
  EXPECT_EQ(net.label(0), "alpha HCA-1 H-00000001");  // two have this name
  EXPECT_EQ(net.label(1), "beta HCA-1");
  EXPECT_EQ(net.label(4), "spine");
  EXPECT_EQ(net.links(), 8u);  // each cable once, though both ends list it
  const link_id up = net.find(3, 4);
  ASSERT_NE(up, nothing);
  EXPECT_DOUBLE_EQ(net.capacity(up), 4);  // two cables, twice as fast
  EXPECT_DOUBLE_EQ(net.capacity(net.find(0, 3)), 1);
  ASSERT_TRUE(net.speeds());
  EXPECT_DOUBLE_EQ(net.speeds()->bandwidth, 25e9);
  EXPECT_EQ(net.name(), "f.ib");
}

TEST(ibnetdiscover, what_is_wrong_names_its_line) {
  const auto says = [](const std::string& text) {
    return complaint_of([&] { (void)topology_from_ibnetdiscover(text, "f"); });
  };
  const std::string ca = "caguid=0x1\nCa 1 \"H-1\" # \"a\"\n";
  expect_says(says("[1] \"S-1\"[2]"), "f:1");
  expect_says(says(ca + "[1] \"S-1\"[2] # 4xQDR"), "f:3");
  expect_says(says(ca + "Ca 1 \"H-1\""), "f:3");
  expect_says(says(ca + "[x] \"H-1\"[2]"), "a port is [N]");
  expect_says(says(ca + "[1] H-1"), "in quotes");
  expect_says(says(ca + "[1] \"H-1\"[2] # 4xWARP"), "4xWARP");
  expect_says(says(ca + "what is this"), "f:3");
  expect_says(says(""), "no Switch");
  expect_says(says("Switch 2 \"S-1\"\n"), "nobody sends");
}

TEST(graphml, networks_come_back_as_they_went) {
  topology slow = make_torus({3, 4}).with_speeds("slow", {1.25e9, 1e-6, 2e9});
  const std::pair<node_id, node_id> dead[] = {{0, 1}};
  for (const topology& net :
       {make_torus({4, 2, 3}), make_mesh({3, 3}), make_torus({4, 2}, ring_of_two::two_cables),
        make_torus({4, 4}).without(dead), slow, parse_topology("fattree:2;4,4;1,2;1,2"),
        parse_topology("dragonfly:3,4;4,3;5,1;2"), parse_topology("4x3m"),
        topology_from_ibnetdiscover(fabric, "f")}) {
    const topology read = topology_from_graphml(topology_to_graphml(net), "g");
    EXPECT_EQ(read.fingerprint(), net.fingerprint()) << net.name();
    EXPECT_EQ(read.grid().sizes, net.grid().sizes) << net.name();
    EXPECT_EQ(read.grid().wraps, net.grid().wraps) << net.name();
    EXPECT_EQ(read.has_labels(), net.has_labels()) << net.name();
    for (node_id n = 0; n < net.nodes(); ++n) {
      ASSERT_EQ(read.label(n), net.label(n));
    }
    ASSERT_EQ(read.speeds().has_value(), net.speeds().has_value()) << net.name();
    if (net.speeds()) {
      EXPECT_EQ(read.speeds()->bandwidth, net.speeds()->bandwidth);
      EXPECT_EQ(read.speeds()->hop_latency, net.speeds()->hop_latency);
      EXPECT_EQ(read.speeds()->injection, net.speeds()->injection);
    }
  }
}

TEST(graphml, what_other_programs_write) {
  const topology net = topology_from_graphml(R"(<?xml version='1.0' encoding='utf-8'?>
<!DOCTYPE graphml [ <!ENTITY x "y"> ]>
<graphml xmlns="urn:any"><!-- networkx, say -->
  <key id="d1" for="edge" attr.name="capacity" attr.type="double"/>
  <key id="d0" for="node" attr.name="endpoint" attr.type="boolean"><default>false</default></key>
  <key id="d2" for="node" attr.name="x" attr.type="double"/>
  <graph edgedefault="undirected">
    <edge source="leaf" target="a&amp;b"><data key="d1">2.5</data></edge>
    <node id="leaf"><data key="d2">1.0</data></node>
    <node id="a&amp;b"><data key="d0">true</data></node>
    <node id='c"d'><data key="d0">true</data></node>
    <edge source="leaf" target='c"d' directed="true"/>
  </graph>
</graphml>)",
                                             "g");
  EXPECT_EQ(net.endpoints(), 2u);
  EXPECT_EQ(net.label(0), "a&b");
  EXPECT_EQ(net.label(1), "c\"d");
  EXPECT_EQ(net.label(2), "leaf");
  EXPECT_EQ(net.links(), 3u);
  EXPECT_EQ(net.capacity(net.find(0, 2)), 2.5);
  EXPECT_EQ(net.find(1, 2), nothing);
}

TEST(graphml, what_is_wrong_names_its_line) {
  const auto says = [](const std::string& inside, const std::string& head = "") {
    return complaint_of([&] {
      (void)topology_from_graphml("<graphml>" + head + "<graph edgedefault=\"directed\">\n" +
                                      "<node id=\"a\"/><node id=\"b\"/>\n" + inside +
                                      "</graph></graphml>",
                                  "g");
    });
  };
  expect_says(says("<edge source=\"a\" target=\"z\"/>"), "g:3");
  expect_says(says("<edge source=\"a\" target=\"z\"/>"), "no node \"z\"");
  expect_says(says("<edge source=\"a\" target=\"a\"/>"), "to itself");
  expect_says(says("\n<edge source=\"a\"/>"), "g:4");
  expect_says(says("<node id=\"a\"/>"), "two nodes");
  expect_says(says("<hyperedge/>"), "hyperedge");
  expect_says(says("<data key=\"s\">2</data>"), "no <key");
  expect_says(says("<data key=\"s\">3</data>", "<key id=\"s\" for=\"graph\" attr.name=\"shape\"/>"),
              "not those of the grid");
  expect_says(says("<edge source=\"a\" target=\"b\"><data key=\"c\">-1</data></edge>",
                   "<key id=\"c\" attr.name=\"capacity\"/>"),
              "no capacity");
  expect_says(says("</node>"), "closes no");
  expect_says(says("<node id=\"x&what;\"/>"), "an & begins");
  expect_says(says("<!-- "), "does not end");
  expect_says(complaint_of([] { (void)topology_from_graphml("<graphml/>", "g"); }), "no <graph>");
  expect_says(complaint_of([] { (void)topology_from_graphml("<graphml>", "g"); }), "not closed");
}

TEST(dragonfly, more_groups_than_routers) {
  const topology net = parse_topology("dragonfly:7,2;1,1;3,1;1");
  EXPECT_EQ(net.endpoints(), 21u);
  std::set<std::pair<std::uint32_t, std::uint32_t>> groups;
  std::map<node_id, int> global;  // of each router
  for (link_id l = 0; l < net.links(); ++l) {
    const std::uint32_t a = (net.from(l) - 21) / 3, b = (net.to(l) - 21) / 3;
    if (net.from(l) >= 21 && net.to(l) >= 21 && a != b) {
      EXPECT_EQ(net.capacity(l), 2);
      groups.emplace(a, b);
      ++global[net.from(l)];
    }
  }
  EXPECT_EQ(groups.size(), 42u);  // each group reaches each
  for (const auto& [router, count] : global) {
    EXPECT_LE(count, 3) << router;  // 6 others over 3 routers; its own number skips one
  }
  EXPECT_GT(make_plan(net, make_pattern(net, "alltoall", {.bytes = 4096})).busiest, 0);
  expect_says(complaint_of([] { (void)parse_topology("dragonfly:1000000,1;1,1;1,1;1"); }),
              "too large");
}

TEST(traffic, lists_and_matrices_come_back) {
  const topology plain = make_torus({4, 2});
  const topology named = topology_from_ibnetdiscover(fabric, "f");
  for (const topology& net : {plain, named}) {
    job_list jobs;
    jobs.add(0, 2, 65536);
    jobs.add(1, 0, 12);
    jobs.add(2, 1, 1u << 30);
    for (const std::string& text : {jobs_to_csv(net, jobs), traffic_matrix(net, jobs)}) {
      const job_list read = pattern_from_csv(net, text, "t");
      EXPECT_EQ(read.source, jobs.source) << text;
      EXPECT_EQ(read.destination, jobs.destination);
      EXPECT_EQ(read.bytes, jobs.bytes);
    }
  }
}

TEST(traffic, matrices_without_names_are_of_ranks) {
  const job_list jobs = pattern_from_csv(
      make_torus({4}), "# of 4 ranks\n0,64k,0,0\n1e3,0,0,\n0,0,0,0\n2,0,0,0\n", "t", 2);
  EXPECT_EQ(jobs.source, (std::vector<node_id>{0, 0, 1}));
  EXPECT_EQ(jobs.destination, (std::vector<node_id>{0, 0, 0}));
  EXPECT_EQ(jobs.bytes, (std::vector<std::uint64_t>{65536, 1000, 2}));
}

TEST(traffic, what_is_wrong_names_its_line) {
  const topology net = make_torus({4});
  const auto says = [&net](const std::string& text) {
    return complaint_of([&] { (void)pattern_from_csv(net, text, "t"); });
  };
  expect_says(says("0,1\n0,1\n1,0\n"), "square");
  expect_says(says("0,1\n0,1,2\n"), "t:2");
  expect_says(says("source,destination,bytes\n0,9,4\n"), "t:2");
  expect_says(says("source,destination,bytes\n0,1,few\n"), "no number of bytes");
  expect_says(says("source,destination,bytes\n0,1\n"), "fewer fields");
  expect_says(says("source,destination,bytes\n\"0,1\n"), "does not end");
  expect_says(says("source,destination,bytes\n\"0\"1,1\n"), "a comma");
  expect_says(says("node,0,zwei\n0,1,1\n"), "zwei");
  const topology tree = parse_topology("fattree:1;4;1;1");
  expect_says(complaint_of([&] {
                (void)pattern_from_csv(tree.with_labels({"a", "b", "c", "d", "root"}),
                                       "source,destination,bytes\na,root,1\n", "t");
              }),
              "switch");
}

TEST(loads, come_back_and_add_up) {
  const topology net = topology_from_ibnetdiscover(fabric, "f");
  std::vector<double> loads(net.links());
  for (link_id l = 0; l < net.links(); ++l) {
    loads[l] = l * 1e6 / 3;
  }
  EXPECT_EQ(loads_from_csv(net, loads_to_csv(net, loads), "l"), loads);
  const auto twice = loads_from_csv(net, "bytes,note,to,from\n1,x,4,3\n2.5,,spine,leaf 1\n", "l");
  EXPECT_EQ(twice[net.find(3, 4)], 3.5);
  const auto says = [&net](const std::string& text) {
    return complaint_of([&] { (void)loads_from_csv(net, text, "l"); });
  };
  expect_says(says("a,b\n"), "from, to, bytes");
  expect_says(says("from,to,bytes\n0,4,1\n"), "no link from \"0\" to \"4\"");
  expect_says(says("from,to,bytes\n3,4,-1\n"), "l:2");
}

// Follows the ratios from each source; what reaches the destination, and the load of each link.
std::vector<double> followed(const topology& net, const route_plan& plan,
                             std::map<node_id, double>& arrived) {
  std::map<node_id, std::map<node_id, double>> held;  // destination -> node -> bytes
  for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
    if (plan.jobs.source[j] != plan.jobs.destination[j]) {
      held[plan.jobs.destination[j]][plan.jobs.source[j]] += double(plan.jobs.bytes[j]);
    }
  }
  const std::vector<split_ratio> splits = split_ratios(net, plan);
  std::vector<double> load(net.links(), 0);
  for (auto& [destination, at] : held) {
    for (std::size_t round = 0; round <= net.nodes(); ++round) {
      std::map<node_id, double> next;
      for (const split_ratio& s : splits) {
        const auto here = at.find(s.node);
        if (s.destination == destination && here != at.end() && s.node != destination) {
          next[s.next] += here->second * s.ratio;
          load[net.find(s.node, s.next)] += here->second * s.ratio;
        }
      }
      arrived[destination] += next[destination];
      next.erase(destination);
      at = next;
    }
    for (const auto& [node, bytes] : at) {
      EXPECT_LT(bytes, 1e-3) << "goes in a circle at " << node;
    }
  }
  return load;
}

TEST(splits, carry_everything_with_no_more_on_any_link) {
  for (const char* shape : {"4x4", "3x3x2", "fattree:2;2,4;1,2;1,1", "dragonfly:5,1;1,1;2,1;2"}) {
    const topology net = parse_topology(shape);
    for (const char* pattern : {"alltoallv", "random"}) {
      const route_plan plan = make_plan(net, make_pattern(net, pattern, {.bytes = 1 << 20}));
      std::map<node_id, double> wanted, arrived;
      for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
        if (plan.jobs.source[j] != plan.jobs.destination[j]) {
          wanted[plan.jobs.destination[j]] += double(plan.jobs.bytes[j]);
        }
      }
      const std::vector<double> load = followed(net, plan, arrived);
      for (const auto& [node, bytes] : wanted) {
        EXPECT_NEAR(arrived[node], bytes, 1e-6 * bytes) << shape << ' ' << pattern;
      }
      const std::vector<double> planned = link_loads(net, plan);
      for (link_id l = 0; l < net.links(); ++l) {
        ASSERT_LE(load[l], planned[l] * (1 + 1e-9) + 1e-3) << shape << ' ' << pattern << ' ' << l;
      }
    }
  }
}

// Two sources on a ring of four whose paths cross each other: together they would go in a circle.
TEST(splits, circles_are_cut) {
  const topology net = make_torus({4});
  route_plan plan;
  plan.jobs.add(0, 2, 100);
  plan.jobs.add(1, 2, 100);
  plan.first_path = {0, 1, 2};
  plan.bytes = {100, 100};
  const auto path = [&](std::initializer_list<node_id> nodes) {
    for (auto n = nodes.begin(); n + 1 != nodes.end(); ++n) {
      plan.paths.links.push_back(net.find(*n, *(n + 1)));
    }
    plan.paths.close();
  };
  path({0, 1, 2});
  path({1, 0, 3, 2});
  const auto splits = split_ratios(net, plan);
  // 0-1 and 1-0 cancel: 1 sends straight on, 0 the other way round.
  ASSERT_EQ(splits.size(), 3u);
  for (const split_ratio& s : splits) {
    EXPECT_EQ(s.ratio, 1);
    EXPECT_EQ(s.bytes, 100);
    EXPECT_EQ(s.destination, 2u);
  }
}

}  // namespace
}  // namespace sinew::route
