// SPDX-License-Identifier: BSD-3-Clause
// Patterns: who sends to whom.
#include "sinew/route/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "sinew/base/error.hpp"

namespace sinew::route {
namespace {

TEST(pattern, disjoint_is_one_sixteenth_to_one_half) {
  const topology net = make_torus(mira_shape(512));
  const job_list jobs = make_pattern(net, "disjoint");
  ASSERT_EQ(jobs.size(), 256u);
  for (std::uint32_t j = 0; j < 256; ++j) {
    EXPECT_EQ(jobs.source[j], j / 8);
    EXPECT_EQ(jobs.destination[j], 256 + j);
    EXPECT_EQ(jobs.bytes[j], 8u << 20);
  }
}

TEST(pattern, incast_has_eight_senders_for_each_receiver) {
  const topology net = make_torus(mira_shape(512));
  const job_list jobs = make_pattern(net, "incast");
  for (std::uint32_t j = 0; j < 256; ++j) {
    EXPECT_EQ(jobs.source[j], j);
    EXPECT_EQ(jobs.destination[j], 128 + j / 8);
  }
}

TEST(pattern, named_ones_are_the_experiments) {
  const topology net = make_torus(mira_shape(1024));
  const auto same = [&](const char* a, const char* b) {
    const job_list x = make_pattern(net, a);
    const job_list y = make_pattern(net, b);
    EXPECT_EQ(x.source, y.source) << a;
    EXPECT_EQ(x.destination, y.destination) << a;
  };
  same("disjoint", "experiment:3");
  same("overlap", "experiment:27");
  same("incast", "experiment:87");
}

TEST(pattern, ranks_share_nodes) {
  const topology net = make_torus({4, 4, 4});
  pattern_options o;
  o.ranks_per_node = 4;
  const job_list jobs = make_pattern(net, "disjoint", o);
  EXPECT_EQ(jobs.size(), 128u);
  EXPECT_EQ(*std::max_element(jobs.source.begin(), jobs.source.end()), 3u);
  EXPECT_EQ(*std::min_element(jobs.destination.begin(), jobs.destination.end()), 32u);
}

TEST(pattern, aggregation_goes_to_the_middle) {
  const topology net = make_torus({4, 4});
  pattern_options o;
  o.group = 8;
  const job_list jobs = make_pattern(net, "aggregation", o);
  ASSERT_EQ(jobs.size(), 16u);
  EXPECT_EQ(jobs.destination[0], 4u);
  EXPECT_EQ(jobs.destination[15], 12u);
}

TEST(pattern, random_is_a_permutation_and_repeats) {
  const topology net = make_torus({8, 8});
  const job_list jobs = make_pattern(net, "random");
  EXPECT_EQ(std::set(jobs.destination.begin(), jobs.destination.end()).size(), 64u);
  EXPECT_EQ(jobs.destination, make_pattern(net, "random").destination);
  pattern_options o;
  o.seed = 2;
  EXPECT_NE(jobs.destination, make_pattern(net, "random", o).destination);
}

TEST(pattern, everybody_to_everybody) {
  const topology net = make_torus({4, 4});
  EXPECT_EQ(make_pattern(net, "alltoall").size(), 240u);
  const job_list varied = make_pattern(net, "alltoallv");
  EXPECT_EQ(varied.size(), 240u);
  EXPECT_LE(*std::max_element(varied.bytes.begin(), varied.bytes.end()), 8u << 20);
  EXPECT_GT(std::set(varied.bytes.begin(), varied.bytes.end()).size(), 200u);
}

TEST(pattern, halo_is_the_links) {
  const topology net = make_torus({4, 4, 2});
  EXPECT_EQ(make_pattern(net, "halo").size(), net.links());
}

TEST(pattern, all_experiments_fit) {
  const topology net = make_torus(mira_shape(512));
  for (std::uint32_t id = 0; id < experiments; ++id) {
    const many_to_many s = experiment_shape(id, 512);
    EXPECT_EQ(make_many_to_many(net, s).size(), std::max(s.sources, s.destinations));
  }
  EXPECT_THROW((void)experiment_shape(91, 512), error);
  EXPECT_THROW((void)experiment_shape(0, 100), error);
}

TEST(pattern, lists_of_jobs) {
  const topology net = make_torus({4});
  const job_list jobs = pattern_from_text(net, "0 1 64k # first\n\n3 2 100\n1 1 0\n", "jobs");
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs.bytes[0], 65536u);
  EXPECT_EQ(jobs.source[1], 3u);
}

TEST(pattern, malformed_lists_name_the_line) {
  const topology net = make_torus({4});
  for (const char* text : {"0 1 8\n0 4 8\n", "0 1 8\n0 1\n", "0 1 8\n0 1 many\n", "0 1 8\n-1 1 8\n",
                           "0 1 8\n0 1 8 9\n"}) {
    try {
      (void)pattern_from_text(net, text, "jobs");
      ADD_FAILURE() << text;
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("jobs:2"), std::string::npos) << e.what();
    }
  }
}

TEST(pattern, impossible_ones_are_refused) {
  const topology net = make_torus({4, 2});
  EXPECT_THROW((void)make_pattern(net, "disjoint"), error);
  EXPECT_THROW((void)make_pattern(net, "nonsense"), error);
  EXPECT_THROW((void)make_pattern(net, "experiment:91"), error);
  EXPECT_THROW((void)make_many_to_many(net, {4, 0, 3, 4}), error);
  EXPECT_THROW((void)make_many_to_many(net, {4, 5, 4, 0}), error);
  EXPECT_THROW((void)make_many_to_many(net, {0, 0, 4, 0}), error);
}

}  // namespace
}  // namespace sinew::route
