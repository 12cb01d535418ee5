// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/route/simulate.hpp"

namespace sinew::route {
namespace {

constexpr double no_event = std::numeric_limits<double>::infinity();

// Links, injection, taking out and copying are all just things with a rate.
class fluid {
 public:
  fluid(const topology& net, const route_plan& plan, const simulation_options& o)
      : net_(net), plan_(plan), o_(o) {
    const std::size_t nodes = net.nodes();
    rate_of_thing_.assign(net.links() + 3 * nodes, o.costs.injection_bandwidth);
    for (link_id l = 0; l < net.links(); ++l) {
      rate_of_thing_[l] = net.capacity(l) * o.costs.link_bandwidth;
    }
    const std::size_t copies = net.links() + 2 * nodes;
    std::fill(rate_of_thing_.begin() + static_cast<std::ptrdiff_t>(copies), rate_of_thing_.end(),
              o.costs.copy_bandwidth);
    for (std::size_t p = 0; p < plan.paths.size(); ++p) {
      add_path(p, copies);
    }
  }

  simulation run() {
    simulation out;
    double now = 0;
    for (const double bytes : left_) {
      out.bytes += bytes;
    }
    for (std::size_t alive = left_.size(); alive > 0;) {
      share();
      double next = no_event;
      for (std::size_t f = 0; f < left_.size(); ++f) {
        if (left_[f] > 0) {
          SINEW_ASSERT(rate_[f] > 0);
          next = std::min(next, left_[f] / rate_[f]);
        }
      }
      // Those that end soon after keep their rates until then.
      next = std::max(next * (1 + 1e-12), o_.tolerance * now);
      for (std::size_t f = 0; f < left_.size(); ++f) {
        if (left_[f] <= 0) {
          continue;
        }
        const double needed = left_[f] / rate_[f];
        if (needed <= next) {
          SINEW_ASSERT(alive != 0);
          out.seconds = std::max(out.seconds, now + needed + delay_[f]);
          left_[f] = 0;
          --alive;
        } else {
          left_[f] -= rate_[f] * next;
        }
      }
      now += next;
    }
    return out;
  }

 private:
  void add_path(std::size_t p, std::size_t copies) {
    const auto path = plan_.paths[p];
    if (path.empty() || plan_.bytes[p] == 0) {
      return;
    }
    std::vector<std::uint32_t> places;
    if (o_.every_hop) {
      for (std::uint32_t i = 1; i < path.size(); ++i) {
        places.push_back(i);
      }
    } else {
      places = forwarding_places(net_, path);
    }
    things_.insert(things_.end(), path.begin(), path.end());
    things_.push_back(net_.links() + net_.from(path.front()));
    things_.push_back(net_.links() + net_.nodes() + net_.to(path.back()));
    const machine& m = o_.costs;
    double delay = m.start_up + m.hop_latency * static_cast<double>(path.size());
    const auto chunk = static_cast<double>(std::min(m.chunk, plan_.bytes[p]));
    for (const std::uint32_t at : places) {
      things_.push_back(static_cast<std::uint32_t>(copies) + net_.from(path[at]));
      delay += m.forward_latency + chunk / m.copy_bandwidth +
               chunk / (net_.capacity(path[at]) * m.link_bandwidth);
    }
    first_.push_back(things_.size());
    left_.push_back(static_cast<double>(plan_.bytes[p]));
    delay_.push_back(delay);
  }

  // Max-min fair rates: the thing with the least room per flow settles its flows, and so on.
  void share() {
    std::vector<double> room = rate_of_thing_;
    std::vector<std::uint32_t> flows(room.size(), 0);
    for (std::size_t f = 0; f < left_.size(); ++f) {
      if (left_[f] <= 0) {
        continue;
      }
      for (std::size_t i = first_[f]; i < first_[f + 1]; ++i) {
        ++flows[things_[i]];
      }
    }
    std::vector<std::size_t> begin(room.size() + 1, 0);
    for (std::size_t t = 0; t < room.size(); ++t) {
      begin[t + 1] = begin[t] + flows[t];
    }
    std::vector<std::uint32_t> users(begin.back());
    std::vector<std::size_t> at(begin.begin(), begin.end() - 1);
    for (std::size_t f = 0; f < left_.size(); ++f) {
      if (left_[f] <= 0) {
        continue;
      }
      for (std::size_t i = first_[f]; i < first_[f + 1]; ++i) {
        users[at[things_[i]]++] = static_cast<std::uint32_t>(f);
      }
    }
    rate_.assign(left_.size(), 0);
    using entry = std::pair<double, std::uint32_t>;
    std::priority_queue<entry, std::vector<entry>, std::greater<>> heap;
    for (std::uint32_t t = 0; t < room.size(); ++t) {
      if (flows[t] > 0) {
        heap.emplace(room[t] / flows[t], t);
      }
    }
    while (!heap.empty()) {
      const auto [part, t] = heap.top();
      heap.pop();
      if (flows[t] == 0) {
        continue;
      }
      const double fresh = room[t] / flows[t];
      SINEW_ASSERT(fresh >= part * (1 - 1e-6));  // who settles leaves the others no less each
      if (fresh > part * (1 + 1e-12)) {          // others have settled since
        heap.emplace(fresh, t);
        continue;
      }
      for (std::size_t u = begin[t]; u < begin[t + 1]; ++u) {
        const std::uint32_t f = users[u];
        if (rate_[f] > 0) {
          continue;
        }
        rate_[f] = fresh;
        for (std::size_t i = first_[f]; i < first_[f + 1]; ++i) {
          SINEW_ASSERT(flows[things_[i]] != 0);
          room[things_[i]] = std::max(0.0, room[things_[i]] - fresh);
          --flows[things_[i]];
        }
      }
    }
  }

  const topology& net_;
  const route_plan& plan_;
  const simulation_options& o_;
  std::vector<double> rate_of_thing_;
  std::vector<std::size_t> first_ = {0};
  std::vector<std::uint32_t> things_;  // by flow
  std::vector<double> left_;
  std::vector<double> delay_;
  std::vector<double> rate_;
};

}  // namespace

simulation simulate_flows(const topology& net, const route_plan& plan,
                          const simulation_options& options) {
  check_machine(options.costs);
  check_plan(net, plan);
  const std::int64_t begin = now_ns();
  simulation out = fluid(net, plan, options).run();
  out.host_seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  return out;
}

bool are_quickly_simulated(std::span<const route_plan* const> plans) {
  constexpr std::size_t most_links = 100'000;
  return std::all_of(plans.begin(), plans.end(),
                     [](const route_plan* plan) { return plan->paths.links.size() <= most_links; });
}

double expected_seconds(const topology& net, const route_plan& plan, const machine& costs,
                        bool simulated) {
  simulation_options o;
  o.costs = costs;
  // Of what stays on its node the simulator knows nothing.
  return simulated && !plan.paths.links.empty() ? simulate_flows(net, plan, o).seconds
                                                : predict(net, plan, costs);
}

}  // namespace sinew::route
