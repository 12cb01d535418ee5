// SPDX-License-Identifier: BSD-3-Clause
// What a plan costs on a machine, and the columns of its table.
#include <algorithm>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/route/default_route.hpp"
#include "sinew/route/plan.hpp"

namespace sinew::route {
namespace {

// Walks along a path and takes from each node as far as the default route goes the same way.
class forwarding {
 public:
  explicit forwarding(const topology& net) : net_(net), router_(net) {}

  std::vector<std::uint32_t> places(std::span<const link_id> path) {
    std::vector<std::uint32_t> out;
    std::size_t begin = 0;
    while (begin < path.size()) {
      std::size_t end = path.size();
      while (end > begin + 1 && !straight(path, begin, end)) {
        --end;
      }
      begin = end;
      if (begin < path.size()) {
        out.push_back(static_cast<std::uint32_t>(begin));
      }
    }
    return out;
  }

 private:
  bool straight(std::span<const link_id> path, std::size_t begin, std::size_t end) {
    way_.clear();
    return router_.append(net_.from(path[begin]), net_.to(path[end - 1]), way_) &&
           std::equal(way_.begin(), way_.end(), path.begin() + static_cast<long>(begin),
                      path.begin() + static_cast<long>(end));
  }

  const topology& net_;
  default_router router_;
  std::vector<link_id> way_;
};

}  // namespace

std::vector<std::uint32_t> forwarding_places(const topology& net, std::span<const link_id> path) {
  return forwarding(net).places(path);
}

std::vector<double> link_loads(const topology& net, const route_plan& plan) {
  SINEW_EXPECT(plan.bytes.size() == plan.paths.size());
  std::vector<double> load(net.links(), 0);
  for (std::size_t p = 0; p < plan.paths.size(); ++p) {
    for (const link_id l : plan.paths[p]) {
      load[l] += static_cast<double>(plan.bytes[p]);
    }
  }
  return load;
}

double predict(const topology& net, const route_plan& plan, const machine& m) {
  const std::vector<double> load = link_loads(net, plan);
  // Seconds that each node needs to inject, to take out and to send on.
  std::vector<double> out(net.nodes(), 0), in(net.nodes(), 0), copy(net.nodes(), 0);
  std::vector<std::vector<std::uint32_t>> places(plan.paths.size());
  forwarding where(net);
  for (std::size_t p = 0; p < plan.paths.size(); ++p) {
    const auto path = plan.paths[p];
    if (path.empty() || plan.bytes[p] == 0) {
      continue;
    }
    places[p] = where.places(path);
    const auto bytes = static_cast<double>(plan.bytes[p]);
    out[net.from(path.front())] += bytes / m.injection_bandwidth;
    in[net.to(path.back())] += bytes / m.injection_bandwidth;
    for (const std::uint32_t at : places[p]) {
      copy[net.from(path[at])] += bytes / m.copy_bandwidth;
    }
  }
  double worst = 0;
  for (std::size_t p = 0; p < plan.paths.size(); ++p) {
    const auto path = plan.paths[p];
    if (plan.bytes[p] == 0) {
      continue;
    }
    double drain = path.empty() ? static_cast<double>(plan.bytes[p]) / m.copy_bandwidth : 0;
    double fill = m.start_up + m.hop_latency * static_cast<double>(path.size());
    for (const link_id l : path) {
      drain = std::max(drain, load[l] / (net.capacity(l) * m.link_bandwidth));
    }
    if (!path.empty()) {
      drain = std::max({drain, out[net.from(path.front())], in[net.to(path.back())]});
    }
    for (const std::uint32_t at : places[p]) {
      drain = std::max(drain, copy[net.from(path[at])]);
      fill += m.forward_latency + static_cast<double>(std::min(m.chunk, plan.bytes[p])) /
                                      (net.capacity(path[at]) * m.link_bandwidth);
    }
    worst = std::max(worst, fill + drain);
  }
  return worst;
}

plan_figures figures_of(const topology& net, const route_plan& plan, std::uint64_t chunk) {
  SINEW_EXPECT(chunk != 0 && plan.first_path.size() == plan.jobs.size() + 1);
  plan_figures f;
  std::vector<std::size_t> crossing(net.links(), 0);
  double hops = 0;
  for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
    std::size_t mine = 0;
    for (std::size_t p = plan.first_path[j]; p < plan.first_path[j + 1]; ++p) {
      if (plan.bytes[p] == 0) {
        continue;
      }
      ++mine;
      const auto path = plan.paths[p];
      const auto bytes = static_cast<double>(plan.bytes[p]);
      const auto length = static_cast<double>(path.size());
      const auto chunks = static_cast<double>((plan.bytes[p] + chunk - 1) / chunk);
      const double copies = path.empty() ? 0 : chunks * (length - 1);
      f.hop_bytes_max = std::max(f.hop_bytes_max, bytes * length);
      f.hop_bytes_mean += bytes * length;
      f.copies_max = std::max(f.copies_max, copies);
      f.copies_mean += copies;
      f.hops_max = std::max(f.hops_max, path.size());
      hops += length;
      for (const link_id l : path) {
        ++crossing[l];
      }
      f.bytes += bytes;
    }
    f.jobs += mine > 0;
    f.paths += mine;
    f.job_paths_max = std::max(f.job_paths_max, mine);
  }
  const std::vector<double> load = link_loads(net, plan);
  double used = 0;
  for (link_id l = 0; l < net.links(); ++l) {
    if (crossing[l] == 0) {
      continue;
    }
    ++used;
    f.link_paths_max = std::max(f.link_paths_max, crossing[l]);
    f.link_paths_mean += static_cast<double>(crossing[l]);
    f.link_bytes_max = std::max(f.link_bytes_max, load[l]);
    f.link_bytes_mean += load[l];
  }
  const auto mean = [](double& sum, double count) { sum = count > 0 ? sum / count : 0; };
  const auto paths = static_cast<double>(f.paths);
  f.job_paths_mean = paths;
  mean(f.job_paths_mean, static_cast<double>(f.jobs));
  mean(f.hop_bytes_mean, paths);
  mean(f.copies_mean, paths);
  f.hops_mean = hops;
  mean(f.hops_mean, paths);
  mean(f.link_paths_mean, used);
  mean(f.link_bytes_mean, used);
  return f;
}

}  // namespace sinew::route
