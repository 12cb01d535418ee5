// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share a node, in any order of ranks, and where their blocks lie, against what sorting
// the ranks gives.
#include "coll/node_map.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "gtest/gtest.h"
#include "sinew/coll/communicators.hpp"
#include "support/job.hpp"

namespace sinew::test {
namespace {

using coll::node_map;
using coll::node_order;

/// The nodes of a communicator's ranks, numbered as they are met.
std::vector<int> numbered(const std::vector<int>& node_of) {
  std::map<int, int> number;
  std::vector<int> out;
  for (const int node : node_of) {
    out.push_back(number.emplace(node, static_cast<int>(number.size())).first->second);
  }
  return out;
}

/// `node_of`: by rank of the communicator.
void expect_map(const node_map& map, const std::vector<int>& node_of, int me) {
  const std::vector<int> number = numbered(node_of);
  const auto here = number[static_cast<std::size_t>(me)];
  ASSERT_EQ(map.ranks(), static_cast<int>(node_of.size()));
  ASSERT_EQ(map.nodes(), *std::max_element(number.begin(), number.end()) + 1);
  EXPECT_EQ(map.here(), here);
  std::vector<int> mine;
  std::vector<int> ranks(static_cast<std::size_t>(map.nodes()));
  int changes = 1;
  for (int r = 0; r < map.ranks(); ++r) {
    const int k = number[static_cast<std::size_t>(r)];
    EXPECT_EQ(map.node_of(r), k) << r;
    if (k == here) {
      mine.push_back(r);
    }
    if (ranks[static_cast<std::size_t>(k)]++ == 0) {
      EXPECT_EQ(map.first()[static_cast<std::size_t>(k)], r);
    }
    changes += r > 0 && k != number[static_cast<std::size_t>(r) - 1] ? 1 : 0;
  }
  EXPECT_TRUE(std::equal(mine.begin(), mine.end(), map.mine().begin(), map.mine().end()));
  for (int k = 0; k < map.nodes(); ++k) {
    EXPECT_EQ(map.count(k), ranks[static_cast<std::size_t>(k)]) << k;
  }
  EXPECT_EQ(map.largest(), *std::max_element(ranks.begin(), ranks.end()));
  EXPECT_EQ(map.consecutive(), changes == map.nodes());
}

/// Blocks of random lengths, some of them empty.
void expect_order(const node_map& map, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> bytes(static_cast<std::size_t>(map.ranks()));
  for (std::size_t& n : bytes) {
    n = random() % 3 == 0 ? 0 : random() % 100;
  }
  const node_order order(map, [&](int r) { return bytes[static_cast<std::size_t>(r)]; });
  std::vector<int> sorted(bytes.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](int a, int b) { return map.node_of(a) < map.node_of(b); });
  std::vector<std::byte> memory(order.total() + 1);
  std::byte* const base = memory.data();
  std::size_t at = 0;
  int node = 0;
  EXPECT_EQ(order.start(0), 0U);
  for (const int r : sorted) {
    if (map.node_of(r) != node) {
      EXPECT_EQ(order.start(node) + order.bytes(node), at);
      EXPECT_EQ(order.start(++node), at);
    }
    const coll::buffer block = order.of_rank(base, r);
    EXPECT_EQ(block.base, base + at) << r;
    EXPECT_EQ(block.bytes(), bytes[static_cast<std::size_t>(r)]) << r;
    at += block.bytes();
  }
  EXPECT_EQ(order.total(), at);
  for (int k = 0; k < map.nodes(); ++k) {
    EXPECT_EQ(order.of_node(base, k).base, base + order.start(k)) << k;
    EXPECT_EQ(order.of_node(base, k).bytes(), order.bytes(k)) << k;
  }
}

/// The ranks of a job on these nodes, in their order and in the opposite one.
void check_nodes(const std::vector<int>& node_of) {
  const auto body = [&](member& m) {
    const std::vector<int> turned(node_of.rbegin(), node_of.rend());
    const coll::communicator_ref back = coll::split({m.engine, m.comm}, 0, -m.rank);
    const auto straight = node_map::of({m.engine, m.comm});
    const auto opposite = node_map::of({m.engine, *back});
    ASSERT_TRUE(straight.has_value() && opposite.has_value());
    expect_map(*straight, node_of, m.rank);
    expect_map(*opposite, turned, m.size - 1 - m.rank);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      expect_order(*straight, seed);
      expect_order(*opposite, seed);
    }
  };
  run_job(static_cast<int>(node_of.size()), backend::inproc, core::threading::one, body, node_of);
}

TEST(node_map, of_nodes_whose_ranks_follow_each_other) { check_nodes({0, 0, 0, 1, 1, 2}); }

TEST(node_map, of_nodes_whose_ranks_take_turns) {
  check_nodes({0, 1, 0, 1, 1});
  check_nodes({2, 0, 1, 2, 0});
}

TEST(node_map, there_is_none_on_one_node_nor_where_all_are_apart) {
  const std::vector<int> node_of = {0, 1, 0, 1};
  const auto body = [](member& m) {
    const coll::participant at{m.engine, m.comm};
    const coll::communicator_ref near = coll::split(at, m.rank % 2, 0);
    const coll::communicator_ref apart = coll::split(at, m.rank / 2, 0);
    EXPECT_FALSE(node_map::of({m.engine, *near}).has_value());
    EXPECT_FALSE(node_map::of({m.engine, *apart}).has_value());
    EXPECT_TRUE(node_map::of(at).has_value());
  };
  run_job(4, backend::inproc, core::threading::one, body, node_of);
}

}  // namespace
}  // namespace sinew::test
