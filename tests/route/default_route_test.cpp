// SPDX-License-Identifier: BSD-3-Clause
// Default routes against the published tables, and against what a route must be.
#include "sinew/route/default_route.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sinew/base/error.hpp"
#include "sinew/route/pattern.hpp"

namespace sinew::route {
namespace {

std::string two_places(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

// A row of the published tables, computed.
std::string row(const topology& net, std::uint32_t id) {
  const job_list jobs = make_many_to_many(net, experiment_shape(id, net.nodes()));
  const path_set paths = default_paths(net, jobs);
  std::vector<std::uint32_t> load(net.links(), 0);
  for (const link_id l : paths.links) {
    ++load[l];
  }
  std::size_t longest = 0;
  std::size_t shortest = SIZE_MAX;
  for (std::size_t p = 0; p < paths.size(); ++p) {
    longest = std::max(longest, paths.hops(p));
    shortest = std::min(shortest, paths.hops(p));
  }
  const auto used = static_cast<double>(
      std::count_if(load.begin(), load.end(), [](std::uint32_t n) { return n > 0; }));
  const auto hops = static_cast<double>(paths.links.size());
  std::ostringstream text;
  text << id << ' ' << jobs.size() << ' ' << paths.links.size() << ' ' << longest << ' ' << shortest
       << ' ' << two_places(hops / static_cast<double>(jobs.size())) << ' '
       << *std::max_element(load.begin(), load.end()) << ' ' << two_places(hops / used);
  return text.str();
}

void check_table(std::uint32_t nodes) {
  const topology net = make_torus(mira_shape(nodes));
  const auto file =
      std::filesystem::path(SINEW_TEST_DATA) / ("default_" + std::to_string(nodes) + ".txt");
  std::ifstream in(file);
  ASSERT_TRUE(in) << file;
  std::uint32_t rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') {
      continue;
    }
    EXPECT_EQ(row(net, rows), line);
    ++rows;
  }
  EXPECT_EQ(rows, experiments);
}

TEST(default_route, every_row_of_the_table_for_512_nodes) { check_table(512); }
TEST(default_route, every_row_of_the_table_for_1024_nodes) { check_table(1024); }

TEST(default_route, order_of_dimensions) {
  const auto order = [](std::uint32_t nodes) {
    std::string text;
    const topology net = make_torus(mira_shape(nodes));
    const default_router router(net);
    for (const std::size_t d : router.dimensions()) {
      text += static_cast<char>('A' + static_cast<char>(d));
    }
    return text;
  };
  EXPECT_EQ(order(512), "ABCDE");
  EXPECT_EQ(order(1024), "DBCAE");
  EXPECT_EQ(order(2048), "DBCAE");
  EXPECT_EQ(order(4096), "DCABE");
  EXPECT_EQ(order(8192), "CDABE");
}

// A walk from a to b over links that work, no longer than `most`.
void expect_walk(const topology& net, node_id a, node_id b, const std::vector<link_id>& path,
                 std::size_t most) {
  node_id at = a;
  for (const link_id l : path) {
    ASSERT_EQ(net.from(l), at);
    ASSERT_GT(net.capacity(l), 0);
    at = net.to(l);
  }
  EXPECT_EQ(at, b);
  EXPECT_LE(path.size(), most);
}

TEST(default_route, walks_from_a_to_b_on_every_kind_of_network) {
  const struct {
    const char* shape;
    std::size_t diameter;
  } cases[] = {{"4x3x2", 4},
               {"mesh:5x4", 7},
               {"hypercube:5", 5},
               {"fattree:2;4,4;1,2;1,2", 4},
               {"dragonfly:3,4;4,3;5,1;2", 7},
               {"1x1", 0},
               {"5", 2}};
  for (const auto& c : cases) {
    const topology net = parse_topology(c.shape);
    for (const auto how : {dimension_order::longest_first, dimension_order::ascending,
                           dimension_order::descending, dimension_order::shuffled}) {
      default_router router(net, how, 7);
      for (node_id a = 0; a < net.endpoints(); ++a) {
        for (node_id b = 0; b < net.endpoints(); ++b) {
          std::vector<link_id> path;
          ASSERT_TRUE(router.append(a, b, path));
          expect_walk(net, a, b, path, c.diameter);
        }
      }
    }
  }
}

TEST(default_route, half_way_round_the_source_decides) {
  const topology net = make_torus({4});
  default_router router(net);
  std::vector<link_id> path;
  ASSERT_TRUE(router.append(0, 2, path));  // even: direct
  EXPECT_EQ(net.to(path[0]), 1u);
  path.clear();
  ASSERT_TRUE(router.append(1, 3, path));  // odd: through the wraparound
  EXPECT_EQ(net.to(path[0]), 0u);
  path.clear();
  ASSERT_TRUE(router.append(2, 0, path));
  EXPECT_EQ(net.to(path[0]), 1u);
}

TEST(default_route, no_way_is_said) {
  const topology two = topology_from_edges("0 1\n2 3\n", "islands");
  std::vector<link_id> path;
  EXPECT_FALSE(default_router(two).append(0, 3, path));
  EXPECT_TRUE(path.empty());
  job_list jobs;
  jobs.add(0, 3, 1);
  EXPECT_THROW((void)default_paths(two, jobs), error);
  const std::pair<node_id, node_id> dead[] = {{1, 2}};
  const topology broken = make_torus({8}).without(dead);
  EXPECT_FALSE(default_router(broken).append(0, 3, path));
  EXPECT_TRUE(path.empty());
}

}  // namespace
}  // namespace sinew::route
