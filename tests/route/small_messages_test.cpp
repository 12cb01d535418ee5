// SPDX-License-Identifier: BSD-3-Clause
// Plans of messages so small that shares round to nothing: every byte still has a path.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "sinew/base/error.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/plan.hpp"

namespace sinew::route {
namespace {

constexpr method every_method[] = {method::default_route, method::adaptive, method::heu_load,
                                   method::heu_chunk,     method::opt,      method::balanced};

void plan_each_size(const topology& net, const char* pattern) {
  for (std::uint64_t bytes = 1; bytes <= 64; ++bytes) {
    pattern_options p;
    p.bytes = bytes;
    p.group = 4;
    const job_list jobs = make_pattern(net, pattern, p);
    for (const method how : every_method) {
      SCOPED_TRACE(net.name() + " " + pattern + " " + std::to_string(bytes) + " " +
                   method_name(how));
      plan_options o;
      o.how = how;
      o.fed = 6;
      o.fall_back = bytes % 2 == 0;
      const route_plan plan = make_plan(net, jobs, o);
      check_plan(net, plan);
      for (std::size_t path = 0; path < plan.paths.size(); ++path) {
        EXPECT_GT(plan.bytes[path], 0u) << "a path that carries nothing";
      }
    }
  }
}

TEST(small_messages, every_size_pattern_method_and_network) {
  for (const char* shape :
       {"3x3", "2x2x2", "mesh:3x2", "hypercube:3", "fattree:1;4;2;1", "dragonfly:2,1;1,1;2,1;1"}) {
    const topology net = parse_topology(shape);
    for (const char* pattern : {"random", "aggregation", "alltoall", "alltoallv"}) {
      plan_each_size(net, pattern);
    }
  }
}

// Options that no plan can be made with are refused with a sentence: a chunk of no bytes would be
// counted for ever, and costs of zero divide.
TEST(plan_options, senseless_ones_are_refused) {
  const topology net = make_torus({4, 4});
  const job_list jobs = make_pattern(net, "random");
  const auto refused = [&](auto change) {
    for (const method how : every_method) {
      plan_options o;
      o.how = how;
      change(o);
      EXPECT_THROW((void)make_plan(net, jobs, o), error) << method_name(how);
    }
  };
  refused([](plan_options& o) { o.costs.chunk = 0; });
  refused([](plan_options& o) { o.most_paths = 17; });
  refused([](plan_options& o) { o.gap = -0.1; });
  refused([](plan_options& o) { o.gap = std::nan(""); });
  refused([](plan_options& o) { o.costs.link_bandwidth = 0; });
  refused([](plan_options& o) { o.costs.injection_bandwidth = -1; });
  refused([](plan_options& o) { o.costs.copy_bandwidth = std::nan(""); });
  refused([](plan_options& o) { o.costs.hop_latency = -1e-9; });
}

// Fifty ways for each job, and fewer bytes than ways.
TEST(small_messages, fewer_bytes_than_paths) {
  const topology net = make_torus({4, 4, 4});
  for (const char* pattern : {"disjoint", "overlap", "incast"}) {
    for (const std::uint64_t bytes : {1u, 2u, 7u, 8u, 31u, 64u}) {
      pattern_options p;
      p.bytes = bytes;
      const job_list jobs = make_pattern(net, pattern, p);
      for (const method how : every_method) {
        SCOPED_TRACE(std::string(pattern) + " " + std::to_string(bytes) + " " + method_name(how));
        plan_options o;
        o.how = how;
        o.fall_back = false;
        check_plan(net, make_plan(net, jobs, o));
      }
    }
  }
}

}  // namespace
}  // namespace sinew::route
