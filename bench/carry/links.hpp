// SPDX-License-Identifier: BSD-3-Clause
// On hosts that the cables of a torus join: patterns carried out over default routes and over
// plans, beside what was predicted.
#ifndef SINEW_BENCH_CARRY_LINKS_HPP
#define SINEW_BENCH_CARRY_LINKS_HPP

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "exchange.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/simulate.hpp"

namespace carry {

/// Bytes per second of the cable between the first two nodes: the best of three long puts.
inline double cable_rate(engine& e) {
  constexpr std::size_t bytes = 1u << 20;
  const std::uint64_t box = e.memory().allocate(part::symmetric, bytes);
  const std::vector<std::byte> source(bytes);
  double best = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    e.sync_all();
    const auto from = now_ns();
    if (e.rank() == 0) {
      e.put({1, box}, source.data(), bytes);
      e.flush_all();
    }
    best = std::max(best, static_cast<double>(bytes) * 1e9 / static_cast<double>(now_ns() - from));
    e.sync_all();
  }
  // All ranks plan for themselves, so all must plan for the same cable: rank 0's.
  e.put({e.rank(), box}, &best, sizeof best);
  e.sync_all();
  e.get(&best, {0, box}, sizeof best);
  e.sync_all();
  e.memory().release(box);
  return best;
}

struct carried_out {
  double seconds;    ///< from a barrier to the next; the median of three
  double predicted;  ///< by the planner
  double flows;      ///< by the simulators
  double chunks;
};

inline carried_out carry_out(engine& e, const sinew::route::topology& net,
                             const sinew::route::job_list& jobs,
                             const sinew::multipath::transfer_options& o) {
  const auto plan = sinew::route::make_plan(net, jobs, o.plan);
  sinew::multipath::transfer c(e, net, plan, o);
  const exchange x(e, c, part::local);
  std::vector<double> seconds;
  for (int repeat = 0; repeat < 4; ++repeat) {
    x.fill();
    const double took = timed(e, [&] {
      if (!c.alltoallv(x.own(x.send), x.send_at, x.own(x.receive), x.receive_at).ok()) {
        std::abort();
      }
    });
    if (repeat > 0) {  // the first makes the connections
      seconds.push_back(took);
    }
    x.check();
  }
  sinew::route::simulation_options how;
  how.costs = o.plan.costs;
  return {median(seconds), sinew::route::predict(net, plan, o.plan.costs),
          sinew::route::simulate_flows(net, plan, how).seconds,
          sinew::route::simulate_chunks(net, plan, how).seconds};
}

/// Every rank has a node of the torus to itself. Told by rank 0.
inline void measure_links(engine& e, const sinew::route::topology& net, std::uint64_t bytes) {
  const auto p = static_cast<std::uint32_t>(e.size());
  SINEW_CHECK(p >= 4 && p % 4 == 0, "patterns cannot be carried out over the cables",
              "their parts are quarters of the ranks, and there are " + std::to_string(p), "");
  sinew::multipath::transfer_options o;
  o.plan.fall_back = false;
  o.plan.costs = {.link_bandwidth = cable_rate(e),
                  .start_up = 50e-6,
                  .hop_latency = 10e-6,
                  .forward_latency = 50e-6,
                  .chunk = 32u << 10};
  if (e.rank() == 0) {
    std::printf("@ cable rate MB/s ranks=2 %.6g\n", o.plan.costs.link_bandwidth * 1e-6);
  }
  // The paper's kinds, in parts that 16 nodes have too.
  const std::pair<const char*, sinew::route::many_to_many> patterns[] = {
      {"disjoint", {p / 4, 0, p / 2, p / 2}},
      {"overlap", {p / 4, 0, p / 2, p / 8}},
      {"subset", {p / 4, 0, p / 2, 0}},
      {"incast", {p / 2, 0, p / 4, p / 4}},
  };
  sinew::route::pattern_options each;
  each.bytes = bytes;
  for (const auto& [name, shape] : patterns) {
    const auto jobs = sinew::route::make_many_to_many(net, shape, each);
    o.plan.how = sinew::route::method::default_route;
    const carried_out usual = carry_out(e, net, jobs, o);
    o.plan.how = sinew::route::method::balanced;
    const carried_out planned = carry_out(e, net, jobs, o);
    if (e.rank() != 0) {
      continue;
    }
    double moved = 0;  // MB
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      moved += jobs.source[j] == jobs.destination[j] ? 0 : static_cast<double>(bytes) * 1e-6;
    }
    const std::string params =
        "ranks=" + std::to_string(p) + ",bytes=" + std::to_string(bytes) + ",net=" + net.name();
    const auto row = [&](const char* metric, const char* unit, double value) {
      std::printf("@ %s %s %s %s %.6g\n", name, metric, unit, params.c_str(), value);
    };
    row("default", "MB/s", moved / usual.seconds);
    row("plan", "MB/s", moved / planned.seconds);
    row("gain", "1", usual.seconds / planned.seconds);
    row("predicted-gain", "1", usual.predicted / planned.predicted);
    row("simulated-flows", "MB/s", moved / planned.flows);
    row("simulated-chunks", "MB/s", moved / planned.chunks);
  }
}

}  // namespace carry

#endif
