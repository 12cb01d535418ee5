// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/route/fair_shares.hpp"
#include "sinew/route/simulate.hpp"

namespace sinew::route {
namespace {

constexpr double no_event = std::numeric_limits<double>::infinity();

// Links, then each node's injection, taking out and copying.
std::vector<double> rates_of_things(const topology& net, const machine& costs) {
  std::vector<double> rates(net.links() + 2 * std::size_t{net.nodes()}, costs.injection_bandwidth);
  for (link_id l = 0; l < net.links(); ++l) {
    rates[l] = net.capacity(l) * costs.link_bandwidth;
  }
  rates.resize(rates.size() + net.nodes(), costs.copy_bandwidth);
  return rates;
}

class fluid {
 public:
  fluid(const topology& net, const route_plan& plan, const simulation_options& o)
      : net_(net), plan_(plan), o_(o), shares_(rates_of_things(net, o.costs)) {
    const std::size_t nodes = net.nodes();
    for (std::size_t p = 0; p < plan.paths.size(); ++p) {
      add_path(p, net.links() + 2 * nodes);
    }
  }

  simulation run() {
    simulation out;
    double now = 0;
    for (const double bytes : left_) {
      out.bytes += bytes;
    }
    for (std::size_t alive = left_.size(); alive > 0;) {
      (void)shares_.settle();
      double next = no_event;
      for (std::size_t f = 0; f < left_.size(); ++f) {
        if (left_[f] > 0) {
          SINEW_ASSERT(rate_of(f) > 0);
          next = std::min(next, left_[f] / rate_of(f));
        }
      }
      // Those that end soon after keep their rates until then.
      next = std::max(next * (1 + 1e-12), o_.tolerance * now);
      for (std::size_t f = 0; f < left_.size(); ++f) {
        if (left_[f] <= 0) {
          continue;
        }
        const double needed = left_[f] / rate_of(f);
        if (needed <= next) {
          SINEW_ASSERT(alive != 0);
          out.seconds = std::max(out.seconds, now + needed + delay_[f]);
          left_[f] = 0;
          shares_.remove(static_cast<fair_shares::flow_id>(f));
          --alive;
        } else {
          left_[f] -= rate_of(f) * next;
        }
      }
      now += next;
    }
    return out;
  }

 private:
  [[nodiscard]] double rate_of(std::size_t f) const {
    return shares_.rate(static_cast<fair_shares::flow_id>(f));
  }

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
    std::vector<fair_shares::thing_id> things(path.begin(), path.end());
    things.push_back(net_.links() + net_.from(path.front()));
    things.push_back(net_.links() + net_.nodes() + net_.to(path.back()));
    const machine& m = o_.costs;
    double delay = m.start_up + m.hop_latency * static_cast<double>(path.size());
    const auto chunk = static_cast<double>(std::min(m.chunk, plan_.bytes[p]));
    for (const std::uint32_t at : places) {
      things.push_back(static_cast<std::uint32_t>(copies) + net_.from(path[at]));
      delay += m.forward_latency + chunk / m.copy_bandwidth +
               chunk / (net_.capacity(path[at]) * m.link_bandwidth);
    }
    // None has gone, so flows have the numbers 0, 1, 2, ...
    [[maybe_unused]] const fair_shares::flow_id number = shares_.add(things);
    SINEW_ENSURE(number == left_.size());
    left_.push_back(static_cast<double>(plan_.bytes[p]));
    delay_.push_back(delay);
  }

  const topology& net_;
  const route_plan& plan_;
  const simulation_options& o_;
  fair_shares shares_;
  std::vector<double> left_;
  std::vector<double> delay_;
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
