// SPDX-License-Identifier: BSD-3-Clause
#include "baselines.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

#include "balancer.hpp"
#include "normal_jobs.hpp"
#include "path_finder.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "sinew/route/default_route.hpp"

namespace sinew::route {
namespace {

std::string ends_of(const job_list& jobs, std::size_t j) {
  return "from node " + std::to_string(jobs.source[j]) + " to node " +
         std::to_string(jobs.destination[j]);
}

// The longest default route among all pairs of a grid; elsewhere nodes bound it.
std::uint32_t hop_limit(const topology& net) {
  if (net.grid().empty()) {
    return net.nodes();
  }
  std::uint32_t hops = 0;
  for (std::size_t d = 0; d < net.dimensions(); ++d) {
    const std::uint32_t size = net.grid().sizes[d];
    hops += net.grid().wraps[d] ? size / 2 : size - 1;
  }
  return hops;
}

using fed = path_choices::list;

// The paths again, those that are equally short in another order.
fed shuffled(const fed& of, std::uint64_t seed) {
  random_generator random(seed);
  fed all;
  all.first = of.first;
  for (std::size_t j = 0; j + 1 < of.first.size(); ++j) {
    std::vector<std::pair<std::size_t, std::uint64_t>> keys;  // length, then at random
    std::vector<std::size_t> order;
    for (std::size_t p = of.first[j]; p < of.first[j + 1]; ++p) {
      keys.emplace_back(of.paths[p].size(), random());
      order.push_back(p);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
      return keys[x - of.first[j]] < keys[y - of.first[j]];
    });
    for (const std::size_t p : order) {
      all.paths.add(of.paths[p]);
    }
  }
  SINEW_ENSURE(all.paths.size() == of.paths.size());
  return all;
}

double busiest_of(const topology& net, const split& plan) {
  SINEW_EXPECT(plan.bytes.size() == plan.paths.size() && plan.first.back() == plan.paths.size());
  std::vector<double> load(net.links(), 0);
  double most = 0;
  for (std::size_t p = 0; p < plan.paths.size(); ++p) {
    for (const link_id l : plan.paths[p]) {
      SINEW_ASSERT(net.capacity(l) > 0);
      load[l] += plan.bytes[p];
      most = std::max(most, load[l] / net.capacity(l));
    }
  }
  return most;
}

// Plans in `count` ways, and keeps the plan with the least busy link.
template <class Plan>
split best_of(const topology& net, std::uint32_t count, Plan plan) {
  split best = plan(0);
  double least = busiest_of(net, best);
  for (std::uint32_t i = 1; i < count; ++i) {
    split other = plan(i);
    const double busiest = busiest_of(net, other);
    if (busiest < least) {
      least = busiest;
      best = std::move(other);
    }
  }
  return best;
}

// How many of the equally short paths, or orders of them, each method tries, whoever asks: what it
// finds depends on them, and the originals' are those of their library. Orders cost little to try,
// other paths and programs much.
std::uint32_t tries_of(const plan_options& o, std::uint32_t usual) {
  return o.orders != 0 ? o.orders : usual;
}
constexpr std::uint32_t orders_of_heu_load = 16;
constexpr std::uint32_t orders_of_others = 2;

// Half of the orders are of the paths that go straight on, half of others.
template <class Plan>
split best_order(const topology& net, std::uint32_t count, path_choices& from, Plan plan) {
  return best_of(net, count, [&](std::uint32_t i) {
    const fed& base = from[i % 2];
    return plan(i < 2 ? base : shuffled(base, i));
  });
}

// Offers the paths of a list, one more in each pass.
class list_finder final : public path_finder {
 public:
  list_finder(const path_set& paths, const std::vector<std::size_t>& first)
      : paths_(paths), first_(first) {
    for (std::uint32_t j = 0; j + 1 < first.size(); ++j) {
      order_.push_back(j);
    }
  }
  bool find(std::size_t j, std::span<const double> price, double below,
            std::vector<link_id>& out) override {
    double least = below;
    std::size_t best = first_[j + 1];
    for (std::size_t p = first_[j]; p < first_[j + 1]; ++p) {
      double cost = 0;
      for (const link_id l : paths_[p]) {
        cost += price[l];
      }
      if (cost < least) {
        least = cost;
        best = p;
      }
    }
    if (best == first_[j + 1]) {
      return false;
    }
    out.insert(out.end(), paths_[best].begin(), paths_[best].end());
    return true;
  }

 private:
  const path_set& paths_;
  const std::vector<std::size_t>& first_;
};

// The original's first heuristic: in rounds, each job takes the first of its paths on which every
// link carries fewer paths than the limit; a round that adds nothing raises the limit. A job
// without any path raises its own limit until one fits, and with it the last limit of all where it
// is higher. Bytes are split evenly.
split heu_load_of(const topology& net, const job_list& jobs, const plan_options& o,
                  const fed& from) {
  const auto& [all, first] = from;
  SINEW_EXPECT(first.size() == jobs.size() + 1);
  std::vector<std::uint32_t> load(net.links(), 0);
  std::vector<std::vector<std::size_t>> chosen(jobs.size());
  std::vector<bool> used(all.size(), false);
  const auto take = [&](std::size_t j, std::uint32_t limit) {
    for (std::size_t p = first[j]; p < first[j + 1]; ++p) {
      const auto links = all[p];
      const bool fits = !used[p] && std::all_of(links.begin(), links.end(),
                                                [&](link_id l) { return load[l] < limit; });
      if (!fits) {
        continue;
      }
      used[p] = true;
      for (const link_id l : links) {
        ++load[l];
      }
      chosen[j].push_back(p);
      return true;
    }
    return false;
  };
  std::uint32_t last = o.load_limit;
  for (std::uint32_t limit = 1; limit <= last;) {
    bool added = false;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      SINEW_ASSERT(first[j] < first[j + 1]);  // else no limit would ever be high enough
      bool mine = take(j, limit);
      for (std::uint32_t own = limit + 1; !mine && chosen[j].empty(); ++own) {
        mine = take(j, own);
        last = std::max(last, own);
      }
      added = added || mine;
    }
    if (!added) {
      ++limit;
    }
  }
  split out;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    SINEW_ASSERT(!chosen[j].empty());
    for (const std::size_t p : chosen[j]) {
      out.paths.add(all[p]);
      out.bytes.push_back(static_cast<double>(jobs.bytes[j]) /
                          static_cast<double>(chosen[j].size()));
    }
    out.close_job();
  }
  return out;
}

// The original's second: a chunk of the job that has most left goes to the one of its paths whose
// busiest link carries least.
split heu_chunk_of(const topology& net, const job_list& jobs, const plan_options& o,
                   const fed& from) {
  const auto& [all, first] = from;
  SINEW_EXPECT(first.size() == jobs.size() + 1);
  std::vector<double> load(net.links(), 0);
  std::vector<double> bytes(all.size(), 0);
  // Most left first; of equals the job that comes first.
  using entry = std::pair<std::uint64_t, std::uint32_t>;
  std::priority_queue<entry> heap;
  const auto key = [&](std::size_t j) { return static_cast<std::uint32_t>(jobs.size() - j); };
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    heap.emplace(jobs.bytes[j], key(j));
  }
  while (!heap.empty()) {
    const auto [left, k] = heap.top();
    heap.pop();
    const std::size_t j = jobs.size() - k;
    double least = 1e300;
    std::size_t best = first[j];
    for (std::size_t p = first[j]; p < first[j + 1]; ++p) {
      double most = 0;
      for (const link_id l : all[p]) {
        most = std::max(most, load[l] / net.capacity(l));
      }
      if (most < least) {
        least = most;
        best = p;
      }
    }
    SINEW_ASSERT(best < first[j + 1] && left != 0);
    const std::uint64_t size = std::min(left, o.costs.chunk);
    for (const link_id l : all[best]) {
      load[l] += static_cast<double>(size);
    }
    bytes[best] += static_cast<double>(size);
    if (left > size) {
      heap.emplace(left - size, k);
    }
  }
  split out;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    for (std::size_t p = first[j]; p < first[j + 1]; ++p) {
      if (bytes[p] <= 0) {
        continue;
      }
      out.paths.add(all[p]);
      out.bytes.push_back(bytes[p]);
    }
    SINEW_ASSERT(std::accumulate(bytes.begin() + static_cast<std::ptrdiff_t>(first[j]),
                                 bytes.begin() + static_cast<std::ptrdiff_t>(first[j + 1]),
                                 0.0) == static_cast<double>(jobs.bytes[j]));
    out.close_job();
  }
  return out;
}

// The path LP max Z, or rather its minimum of the busiest link: the balancer without new paths is a
// convex solver for it.
split opt_of(const topology& net, const job_list& jobs, const fed& from) {
  const auto& [all, first] = from;
  list_finder list(all, first);
  balancer state(net, jobs, list, 64);
  double guess = 1;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    guess = std::max(guess, static_cast<double>(jobs.bytes[j]));
  }
  state.start(guess, 2);
  // With few jobs passes are cheap, and the rest that many jobs find on the average must be sought.
  const bool few = jobs.size() < 200;
  for (double sharpness = 10; sharpness < (few ? 16000 : 4000); sharpness *= 1.5) {
    state.rescale(state.busiest());
    for (int i = 0; i < 4; ++i) {
      state.buy(sharpness);
      for (int k = 0; k < (few ? 16 : 4); ++k) {
        state.even_out(sharpness);
      }
    }
  }
  state.drop_below(1e-4);
  split out;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    state.for_each_path(j, [&](std::span<const link_id> links, double bytes) {
      out.paths.add(links);
      out.bytes.push_back(bytes);
    });
    out.close_job();
  }
  return out;
}

}  // namespace

const path_choices::list& path_choices::operator[](std::uint64_t choice) {
  const auto [at, is_new] = known_.try_emplace(choice);
  list& all = at->second;
  if (!is_new) {
    return all;
  }
  const std::size_t cap = std::size_t{50} << 10;
  std::uint32_t k = options_.fed;
  if (k == 0) {
    k = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(cap / std::max<std::size_t>(jobs_.size(), 1), 1, 50));
  }
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const node_id from = jobs_.source[j];
    const node_id to = jobs_.destination[j];
    const std::uint64_t order = choice == 0 ? 0 : (choice - 1) * jobs_.size() + j + 1;
    path_set some = shortest_paths(net_, from, to, k, hop_limit(net_), order);
    // Around failed links every way may be longer than any default route.
    if (some.size() == 0) {
      some = shortest_paths(net_, from, to, k, net_.nodes(), order);
    }
    SINEW_CHECK(some.size() > 0, "no path " + ends_of(jobs_, j),
                "the network is disconnected, or failed links cut it", "");
    for (std::size_t p = 0; p < some.size(); ++p) {
      all.paths.add(some[p]);
    }
    all.first.push_back(all.paths.size());
  }
  return all;
}

split plan_default_route(const topology& net, const job_list& jobs) {
  split out;
  out.paths = default_paths(net, jobs);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    out.first.push_back(j + 1);
    out.bytes.push_back(static_cast<double>(jobs.bytes[j]));
  }
  return out;
}

// Each chunk goes to the least loaded of the links that lead nearer, hop by hop, as routers with
// queues would send it. Walks that are equal become one path.
split plan_adaptive(const topology& net, const job_list& jobs, std::uint64_t chunk) {
  std::vector<double> load(net.links(), 0);
  std::vector<std::vector<std::pair<std::vector<link_id>, double>>> of_job(jobs.size());
  default_router hops(net);
  for (const std::uint32_t j : by_destination(jobs)) {
    const std::vector<std::uint32_t>& left = hops.hops_to(jobs.destination[j]);
    SINEW_CHECK(left[jobs.source[j]] != nothing, "no path " + ends_of(jobs, j),
                "the network is disconnected, or failed links cut it", "");
    for (std::uint64_t sent = 0; sent < jobs.bytes[j]; sent += chunk) {
      const auto size = static_cast<double>(std::min(chunk, jobs.bytes[j] - sent));
      std::vector<link_id> path;
      for (node_id at = jobs.source[j]; at != jobs.destination[j]; at = net.to(path.back())) {
        link_id best = nothing;
        for (link_id l = net.first_link(at); l < net.first_link(at + 1); ++l) {
          if (net.capacity(l) <= 0 || left[net.to(l)] + 1 != left[at]) {
            continue;
          }
          if (best == nothing || load[l] / net.capacity(l) < load[best] / net.capacity(best)) {
            best = l;
          }
        }
        SINEW_ASSERT(best != nothing);  // one hop nearer there is always a way
        load[best] += size;
        path.push_back(best);
      }
      SINEW_ASSERT(path.size() == left[jobs.source[j]]);
      auto& mine = of_job[j];
      const auto same = std::find_if(mine.begin(), mine.end(),
                                     [&](const auto& entry) { return entry.first == path; });
      if (same == mine.end()) {
        mine.emplace_back(std::move(path), size);
      } else {
        same->second += size;
      }
    }
  }
  split out;
  for (const auto& mine : of_job) {
    for (const auto& [path, bytes] : mine) {
      out.paths.add(path);
      out.bytes.push_back(bytes);
    }
    out.close_job();
  }
  return out;
}

split plan_heu_load(const topology& net, const job_list& jobs, const plan_options& o,
                    path_choices& from) {
  return best_order(net, tries_of(o, orders_of_heu_load), from,
                    [&](const fed& some) { return heu_load_of(net, jobs, o, some); });
}

split plan_heu_chunk(const topology& net, const job_list& jobs, const plan_options& o,
                     path_choices& from) {
  return best_order(net, tries_of(o, orders_of_others), from,
                    [&](const fed& some) { return heu_chunk_of(net, jobs, o, some); });
}

split plan_opt(const topology& net, const job_list& jobs, const plan_options& o,
               path_choices& from) {
  // To a linear program the order of the paths means nothing, but which they are.
  return best_of(net, tries_of(o, orders_of_others),
                 [&](std::uint32_t i) { return opt_of(net, jobs, from[i]); });
}

}  // namespace sinew::route
