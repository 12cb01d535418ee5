// SPDX-License-Identifier: BSD-3-Clause
#include "contraction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "balancer.hpp"
#include "duality.hpp"
#include "path_finder.hpp"
#include "symmetry.hpp"

namespace sinew::route {
namespace {

constexpr std::uint32_t most_nodes = 512;
constexpr std::uint32_t most_jobs = 4096;

struct coarse_problem {
  std::vector<bool> kept;
  std::unique_ptr<topology> net;
  job_list jobs;
  std::vector<std::uint32_t> of_job;
};

std::uint64_t coarse_nodes(const topology& net, const std::vector<bool>& kept) {
  std::uint64_t nodes = 1;
  for (std::size_t d = 0; d < kept.size(); ++d) {
    nodes *= kept[d] ? net.grid().sizes[d] : 1;
  }
  return nodes;
}

// All links between two coarse nodes as one.
std::vector<arc> coarse_arcs(const topology& net, const std::vector<node_id>& image,
                             std::uint32_t nodes, const std::vector<bool>& kept) {
  std::vector<arc> arcs;
  for (std::size_t d = 0; d < kept.size(); ++d) {
    for (const bool up : {true, false}) {
      // In a ring of two both steps are one link.
      if (!kept[d] || (net.grid().sizes[d] == 2 && net.grid().wraps[d] && !up)) {
        continue;
      }
      std::vector<arc> here(nodes, {0, 0, 0});
      for (node_id n = 0; n < net.nodes(); ++n) {
        const link_id l = net.step(n, d, up);
        if (l == nothing) {
          continue;
        }
        arc& a = here[image[n]];
        // Nodes that became one have the same neighbour.
        SINEW_ASSERT(a.from == a.to || a.to == image[net.to(l)]);
        a.capacity += net.capacity(l);
        a.from = image[n];
        a.to = image[net.to(l)];
      }
      for (const arc& a : here) {
        if (a.from != a.to) {
          arcs.push_back(a);
        }
      }
    }
  }
  return arcs;
}

// The coarse grid has all dimensions of the fine one, the dropped ones with size 1.
coarse_problem contract(const topology& net, const job_list& jobs, std::vector<bool> kept) {
  coarse_problem out;
  grid_shape shape = net.grid();
  for (std::size_t d = 0; d < kept.size(); ++d) {
    if (!kept[d]) {
      shape.sizes[d] = 1;
    }
  }
  const auto nodes = static_cast<std::uint32_t>(coarse_nodes(net, kept));
  std::vector<node_id> image(net.nodes(), 0);
  for (node_id n = 0; n < net.nodes(); ++n) {
    for (std::size_t d = 0; d < kept.size(); ++d) {
      if (kept[d]) {
        image[n] = image[n] * shape.sizes[d] + net.coordinate(n, d);
      }
    }
  }
  out.net = std::make_unique<topology>("contraction", nodes, nodes,
                                       coarse_arcs(net, image, nodes, kept), std::move(shape));
  std::map<std::pair<node_id, node_id>, std::uint32_t> row;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const node_id a = image[jobs.source[j]];
    const node_id b = image[jobs.destination[j]];
    if (a == b) {
      out.of_job.push_back(nothing);
      continue;
    }
    const auto [at, fresh] = row.try_emplace({a, b}, static_cast<std::uint32_t>(out.jobs.size()));
    if (fresh) {
      out.jobs.add(a, b, 0);
    }
    out.jobs.bytes[at->second] += jobs.bytes[j];
    out.of_job.push_back(at->second);
  }
  SINEW_ENSURE(out.of_job.size() == jobs.size());
  out.kept = std::move(kept);
  return out;
}

std::unique_ptr<skeleton_set> skeletons_of(const coarse_problem& p, const balancer& state) {
  auto out = std::make_unique<skeleton_set>();
  out->kept = p.kept;
  out->of_job = p.of_job;
  out->first.push_back(0);
  out->begin.push_back(0);
  for (std::size_t j = 0; j < p.jobs.size(); ++j) {
    state.for_each_path(j, [&](std::span<const link_id> links, double) {
      for (const link_id l : links) {
        out->steps.push_back(step_of(*p.net, l));
      }
      out->begin.push_back(static_cast<std::uint32_t>(out->steps.size()));
    });
    out->first.push_back(static_cast<std::uint32_t>(out->begin.size() - 1));
    SINEW_ASSERT(out->first[j] < out->first[j + 1]);  // no job is without a way
  }
  return out;
}

coarse_result solve(const coarse_problem& p, const effort& how) {
  coarse_result out;
  out.kept = p.kept;
  if (p.jobs.size() == 0) {
    return out;
  }
  std::vector<double> price;
  for (const double capacity : p.net->capacities()) {
    price.push_back(capacity > 0 ? 1 : std::numeric_limits<double>::infinity());
  }
  const double scale = dual_bound(*p.net, p.jobs, price);
  if (!std::isfinite(scale)) {
    return out;  // some job has no way on the fine grid either, where it will be named
  }
  tree_finder trees(*p.net, p.jobs);
  balancer state(*p.net, p.jobs, trees);
  state.start(scale, 2);
  const meeting met = meet(state, *p.net, p.jobs, how);
  out.bound = met.bound;
  out.passes = met.passes;
  out.skeletons = skeletons_of(p, state);
  return out;
}

}  // namespace

std::string coarse_result::reason() const {
  std::string text = "the contraction to dimensions";
  for (std::size_t d = 0; d < kept.size(); ++d) {
    if (kept[d]) {
      text += " " + std::to_string(d);
    }
  }
  return text;
}

coarse_result solve_coarse(const topology& net, const job_list& jobs) {
  coarse_result best;
  const std::size_t n = net.dimensions();
  if (n < 2) {
    return best;
  }
  const auto attempt = [&](const std::vector<bool>& kept, const effort& how) {
    const std::uint64_t nodes = coarse_nodes(net, kept);
    if (nodes == 1 || nodes > most_nodes || nodes == net.nodes()) {
      return coarse_result{};
    }
    const coarse_problem p = contract(net, jobs, kept);
    return p.jobs.size() > most_jobs ? coarse_result{} : solve(p, how);
  };
  // Pairs, roughly; then whatever dimension raises the bound most.
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a; b < n; ++b) {
      std::vector<bool> kept(n, false);
      kept[a] = kept[b] = true;
      coarse_result r = attempt(kept, {12, 0.02, best.bound});
      if (r.bound > best.bound * 1.001) {
        best = std::move(r);
      }
    }
  }
  if (best.kept.empty()) {
    return best;
  }
  [[maybe_unused]] const double roughly = best.bound;
  best = attempt(best.kept, {80, 0.002});
  SINEW_ASSERT(best.bound >= roughly);  // the same passes again, and more
  for (bool grown = true; grown;) {
    grown = false;
    coarse_result hardest;
    const std::vector<bool> base = best.kept;
    for (std::size_t d = 0; d < n; ++d) {
      std::vector<bool> kept = base;
      if (kept[d]) {
        continue;
      }
      kept[d] = true;
      coarse_result r = attempt(kept, {80, 0.002, best.bound});
      if (r.bound > best.bound * 1.001) {
        best = std::move(r);
        grown = true;
      } else if (r.passes > hardest.passes) {
        hardest = std::move(r);
      }
    }
    // Where the bound stays but it took long to reach it, the detours are worth knowing.
    if (!grown && hardest.passes >= 8 && hardest.skeletons) {
      best.skeletons = std::move(hardest.skeletons);
    }
  }
  return best;
}

}  // namespace sinew::route
