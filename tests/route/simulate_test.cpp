// SPDX-License-Identifier: BSD-3-Clause
// The simulator against closed forms and its own laws.
#include "sinew/route/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sinew/base/error.hpp"
#include "sinew/route/pattern.hpp"

namespace sinew::route {
namespace {

constexpr std::uint64_t mebi = 1 << 20;

route_plan straight(const topology& net, const job_list& jobs) {
  plan_options o;
  o.how = method::default_route;
  return make_plan(net, jobs, o);
}

simulation_options plain() {
  simulation_options o;
  o.costs.link_bandwidth = 1e9;
  o.costs.injection_bandwidth = 1e15;
  o.costs.copy_bandwidth = 1e15;
  o.costs.start_up = 3e-6;
  o.costs.hop_latency = 1e-7;
  o.costs.forward_latency = 2e-6;
  return o;
}

TEST(simulate, one_message_cuts_through) {
  const topology net = make_torus({16});
  job_list jobs;
  jobs.add(0, 5, mebi);
  const route_plan plan = straight(net, jobs);
  const double expected = 3e-6 + 5e-7 + mebi / 1e9;
  EXPECT_NEAR(simulate_chunks(net, plan, plain()).seconds, expected, 1e-12);
  EXPECT_NEAR(simulate_flows(net, plan, plain()).seconds, expected, 1e-12);
  EXPECT_EQ(simulate_chunks(net, plan, plain()).chunk_hops, 16u * 5);
}

TEST(simulate, a_pipeline_of_stores_and_forwards) {
  const topology net = make_torus({16});
  job_list jobs;
  jobs.add(0, 5, mebi);
  simulation_options o = plain();
  o.every_hop = true;
  const double chunk = 65536 / 1e9;
  // n chunks through h hops take n + h - 1 slots; each of h - 1 nodes adds its latency once.
  const double expected = 3e-6 + 5e-7 + 4 * 2e-6 + (16 + 5 - 1) * chunk;
  EXPECT_NEAR(simulate_chunks(net, straight(net, jobs), o).seconds, expected, 1e-9);
}

TEST(simulate, sharing_a_link_takes_the_sum) {
  const topology net = make_torus({16});
  job_list jobs;
  for (node_id a = 0; a < 4; ++a) {
    jobs.add(a, a + 4, mebi);
  }
  const route_plan plan = straight(net, jobs);  // all cross the link 3-4
  const double floor = 4 * mebi / 1e9;
  for (const auto rule : {queue_rule::round_robin, queue_rule::forward_first}) {
    simulation_options o = plain();
    o.rule = rule;
    const double seconds = simulate_chunks(net, plan, o).seconds;
    EXPECT_GE(seconds, floor);
    EXPECT_LE(seconds, floor * 1.05);
  }
  EXPECT_NEAR(simulate_flows(net, plan, plain()).seconds, floor, floor * 0.01);
}

TEST(simulate, max_min_shares) {
  // Jobs A: 0-1, B: 0-2 over two links; C: 1-2 twice as long. Link 0-1: A, B; link 1-2: B, C.
  const topology net = make_mesh({4});
  job_list jobs;
  jobs.add(0, 1, mebi);
  jobs.add(0, 2, mebi);
  jobs.add(1, 2, 2 * mebi);
  simulation_options o = plain();
  o.costs.start_up = o.costs.hop_latency = 0;
  o.tolerance = 0;
  // Halves for all until A and B end at 2 units; then C has one unit left, alone.
  EXPECT_NEAR(simulate_flows(net, straight(net, jobs), o).seconds, 3 * mebi / 1e9, 1e-9);
}

TEST(simulate, injection_and_copying_can_be_the_narrow_place) {
  const topology net = make_torus({4, 4});
  job_list jobs;
  for (node_id b = 1; b < 16; ++b) {
    jobs.add(0, b, mebi);
  }
  simulation_options o = plain();
  o.costs.injection_bandwidth = 1e9;
  const double floor = 15 * mebi / 1e9;
  EXPECT_GE(simulate_chunks(net, straight(net, jobs), o).seconds, floor * 0.99);
  EXPECT_NEAR(simulate_flows(net, straight(net, jobs), o).seconds, floor, floor * 0.01);
  o = plain();
  o.every_hop = true;
  o.costs.copy_bandwidth = 0.25e9;
  job_list one;
  one.add(0, 2, mebi);
  EXPECT_GE(simulate_chunks(net, straight(net, one), o).seconds, mebi / 0.25e9);
}

TEST(simulate, never_faster_than_the_busiest_link) {
  const topology net = make_torus({4, 4, 4});
  for (const char* name : {"disjoint", "overlap", "incast", "random"}) {
    for (const method how : {method::default_route, method::balanced}) {
      plan_options p;
      p.how = how;
      p.fall_back = false;
      const route_plan plan = make_plan(net, make_pattern(net, name), p);
      for (const bool every_hop : {false, true}) {
        simulation_options o;
        o.every_hop = every_hop;
        const double floor = plan.busiest / o.costs.link_bandwidth;
        const simulation chunks = simulate_chunks(net, plan, o);
        EXPECT_GE(chunks.seconds, floor) << name;
        EXPECT_LE(chunks.seconds, floor * 2) << name;
        EXPECT_GE(simulate_flows(net, plan, o).seconds, floor) << name;
      }
    }
  }
}

TEST(simulate, one_buffer_is_enough_not_to_stop) {
  const topology net = make_torus({4, 4, 4});
  plan_options p;
  p.fall_back = false;
  const route_plan plan = make_plan(net, make_pattern(net, "alltoall", {.bytes = 200000}), p);
  simulation_options o;
  o.every_hop = true;
  o.buffers = 1;
  const simulation tight = simulate_chunks(net, plan, o);
  std::uint64_t hops = 0;
  for (std::size_t i = 0; i < plan.paths.size(); ++i) {
    hops += (plan.bytes[i] + o.costs.chunk - 1) / o.costs.chunk * plan.paths.hops(i);
  }
  EXPECT_EQ(tight.chunk_hops, hops);  // every chunk went all its way
  o.buffers = 1000;
  EXPECT_LE(simulate_chunks(net, plan, o).seconds, tight.seconds * 1.001);
}

TEST(simulate, repeats_exactly) {
  const topology net = make_torus({4, 4, 4});
  const route_plan plan = make_plan(net, make_pattern(net, "overlap"));
  EXPECT_EQ(simulate_chunks(net, plan).seconds, simulate_chunks(net, plan).seconds);
}

TEST(simulate, nothing_takes_no_time) {
  const topology net = make_torus({4});
  job_list jobs;
  jobs.add(1, 1, 100);
  EXPECT_EQ(simulate_chunks(net, make_plan(net, jobs)).seconds, 0);
  EXPECT_EQ(simulate_flows(net, make_plan(net, jobs)).seconds, 0);
  simulation_options o;
  o.costs.chunk = 0;
  EXPECT_THROW((void)simulate_chunks(net, make_plan(net, jobs), o), error);
}

// Where nothing moves, time has no end.
TEST(simulate, senseless_machines_are_refused) {
  const topology net = make_torus({4});
  job_list jobs;
  jobs.add(1, 2, 100);
  const route_plan plan = make_plan(net, jobs);
  for (double machine::* speed :
       {&machine::link_bandwidth, &machine::injection_bandwidth, &machine::copy_bandwidth}) {
    for (const double none : {0.0, -1.0, std::nan("")}) {
      simulation_options o;
      o.costs.*speed = none;
      EXPECT_THROW((void)simulate_chunks(net, plan, o), error);
      EXPECT_THROW((void)simulate_flows(net, plan, o), error);
    }
  }
  simulation_options o;
  o.costs.start_up = -1;
  EXPECT_THROW((void)simulate_chunks(net, plan, o), error);
  EXPECT_THROW((void)simulate_flows(net, plan, o), error);
}

}  // namespace
}  // namespace sinew::route
