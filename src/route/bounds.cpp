// SPDX-License-Identifier: BSD-3-Clause
#include "bounds.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "contraction.hpp"
#include "duality.hpp"
#include "normal_jobs.hpp"
#include "sinew/base/check.hpp"
#include "sinew/route/plan.hpp"

namespace sinew::route {
namespace {

std::uint32_t fewest_hops(const topology& net, node_id a, node_id b, std::size_t d) {
  const std::uint32_t from = net.coordinate(a, d);
  const std::uint32_t to = net.coordinate(b, d);
  const std::uint32_t apart = from > to ? from - to : to - from;
  return net.grid().wraps[d] ? std::min(apart, net.grid().sizes[d] - apart) : apart;
}

}  // namespace

proof simple_bounds(const topology& net, const job_list& jobs) {
  proof best;
  std::vector<double> out(net.nodes(), 0);
  std::vector<double> in(net.nodes(), 0);
  std::vector<double> out_capacity(net.nodes(), 0);
  std::vector<double> in_capacity(net.nodes(), 0);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    SINEW_EXPECT(jobs.source[j] != jobs.destination[j]);  // what stays would prove too much
    out[jobs.source[j]] += static_cast<double>(jobs.bytes[j]);
    in[jobs.destination[j]] += static_cast<double>(jobs.bytes[j]);
  }
  for (link_id l = 0; l < net.links(); ++l) {
    out_capacity[net.from(l)] += net.capacity(l);
    in_capacity[net.to(l)] += net.capacity(l);
  }
  for (node_id n = 0; n < net.nodes(); ++n) {
    const std::string node = "node " + std::to_string(n);
    if (out_capacity[n] > 0 && out[n] / out_capacity[n] > best.bytes) {
      best.raise(out[n] / out_capacity[n], "what leaves " + node);
    }
    if (in_capacity[n] > 0 && in[n] / in_capacity[n] > best.bytes) {
      best.raise(in[n] / in_capacity[n], "what enters " + node);
    }
  }
  for (std::size_t d = 0; d < net.dimensions(); ++d) {
    double needed = 0;
    double there = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      needed += static_cast<double>(jobs.bytes[j]) *
                fewest_hops(net, jobs.source[j], jobs.destination[j], d);
    }
    for (node_id n = 0; n < net.nodes(); ++n) {
      const link_id up = net.step(n, d, true);
      const link_id down = net.step(n, d, false);
      if (up != nothing) {
        there += net.capacity(up);
      }
      if (down != nothing && down != up) {
        there += net.capacity(down);
      }
    }
    if (there > 0) {
      best.raise(needed / there, "what dimension " + std::to_string(d) + " carries");
    }
  }
  return best;
}

int affordable_trees(const topology& net, const job_list& jobs, double links, int most) {
  const std::unordered_set<node_id> from(jobs.source.begin(), jobs.source.end());
  const std::unordered_set<node_id> to(jobs.destination.begin(), jobs.destination.end());
  const auto roots = static_cast<double>(std::min(from.size(), to.size()));
  return static_cast<int>(std::min(links / std::max(roots * net.links(), 1.0), 1.0 * most));
}

bool trees_are_cheap(const topology& net, const job_list& jobs, double passes) {
  return affordable_trees(net, jobs, 3e7 / passes, 1) == 1;  // about half a second
}

std::pair<double, std::string> lower_bound(const topology& net, const job_list& jobs) {
  const job_list moving = jobs_that_move(merged_jobs(net, jobs));
  proof best = simple_bounds(net, moving);
  if (moving.size() == 0) {
    return {0, "nothing moves"};
  }
  const coarse_result coarse = solve_coarse(net, moving);
  best.raise(coarse.bound, coarse.reason());
  if (trees_are_cheap(net, moving, 1)) {
    best.raise(dual_bound(net, moving, std::vector<double>(net.links(), 1.0)),
               "what all links carry");
  }
  return {best.bytes, best.by};
}

}  // namespace sinew::route
