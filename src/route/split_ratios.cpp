// SPDX-License-Identifier: BSD-3-Clause
// Plans for networks that forward by destination alone.
#include <algorithm>
#include <numeric>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/route/interchange.hpp"

namespace sinew::route {
namespace {

/// What goes to one destination, by link. Paths of several sources may together go in circles; a
/// circle carries nothing anywhere, so it is taken out.
class destination_flow {
 public:
  explicit destination_flow(const topology& net)
      : net_(net), flow_(net.links(), 0), state_(net.nodes(), state::fresh) {}

  void add(link_id l, double bytes) {
    SINEW_EXPECT(bytes > 0);
    if (flow_[l] == 0) {
      used_.push_back(l);
    }
    flow_[l] += bytes;
  }

  void cut_cycles() {
    std::sort(used_.begin(), used_.end());
    for (const link_id l : used_) {
      if (state_[net_.from(l)] == state::fresh) {
        search(net_.from(l));
      }
    }
  }

  /// Appends the ratios, then forgets all.
  void take(node_id destination, std::vector<split_ratio>& out) {
    SINEW_EXPECT(std::is_sorted(used_.begin(), used_.end()));  // the links of a node together
    for (std::size_t i = 0; i < used_.size();) {
      const node_id node = net_.from(used_[i]);
      SINEW_ASSERT(node != destination && state_[node] == state::done);
      std::size_t end = i;
      double sum = 0;
      for (; end < used_.size() && net_.from(used_[end]) == node; ++end) {
        sum += flow_[used_[end]];
      }
      for (; i < end; ++i) {
        const double bytes = flow_[used_[i]];
        if (bytes > 0) {
          out.push_back({destination, node, net_.to(used_[i]), bytes / sum, bytes});
        }
        flow_[used_[i]] = 0;
      }
    }
    for (const link_id l : used_) {
      state_[net_.from(l)] = state_[net_.to(l)] = state::fresh;
    }
    used_.clear();
  }

 private:
  enum class state : unsigned char { fresh, open, done };

  // Depth first; `way_` are the links from the root to where it stands.
  void search(node_id root) {
    way_.clear();
    node_id at = root;
    state_[root] = state::open;
    std::vector<link_id> next = {net_.first_link(root)};
    while (true) {
      SINEW_ASSERT(next.size() == way_.size() + 1 && state_[at] == state::open);
      link_id& l = next.back();
      while (l < net_.first_link(at + 1) && (flow_[l] <= 0 || state_[net_.to(l)] == state::done)) {
        ++l;
      }
      if (l == net_.first_link(at + 1)) {
        state_[at] = state::done;
        next.pop_back();
        if (way_.empty()) {
          return;
        }
        at = net_.from(way_.back());
        way_.pop_back();
        continue;
      }
      way_.push_back(l);
      at = net_.to(l);
      if (state_[at] == state::fresh) {
        state_[at] = state::open;
        next.push_back(net_.first_link(at));
        continue;
      }
      at = cut(at, next);
    }
  }

  // The end of the way closes a circle through `again`. Takes its flow out and goes back to where
  // the first of its links ran dry; returns that node.
  node_id cut(node_id again, std::vector<link_id>& next) {
    std::size_t begin = way_.size();
    double least = 0;
    do {
      SINEW_ASSERT(begin != 0);  // an open node lies on the way
      --begin;
      least = begin + 1 == way_.size() ? flow_[way_[begin]] : std::min(least, flow_[way_[begin]]);
    } while (net_.from(way_[begin]) != again);
    std::size_t dry = way_.size();
    for (std::size_t i = way_.size(); i-- > begin;) {
      flow_[way_[i]] = flow_[way_[i]] <= least ? 0 : flow_[way_[i]] - least;
      dry = flow_[way_[i]] == 0 ? i : dry;
    }
    SINEW_ENSURE(dry < way_.size());
    for (std::size_t i = dry; i + 1 < way_.size(); ++i) {
      state_[net_.to(way_[i])] = state::fresh;
      next.pop_back();
    }
    const node_id at = net_.from(way_[dry]);
    way_.resize(dry);
    return at;
  }

  const topology& net_;
  std::vector<double> flow_;
  std::vector<link_id> used_;
  std::vector<state> state_;
  std::vector<link_id> way_;
};

}  // namespace

std::vector<split_ratio> split_ratios(const topology& net, const route_plan& plan) {
  std::vector<std::size_t> order(plan.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&plan](std::size_t a, std::size_t b) {
    return plan.jobs.destination[a] < plan.jobs.destination[b];
  });
  std::vector<split_ratio> out;
  destination_flow flow(net);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t j = order[i];
    for (std::size_t p = plan.first_path[j]; p < plan.first_path[j + 1]; ++p) {
      for (const link_id l : plan.paths[p]) {
        if (plan.bytes[p] > 0) {
          flow.add(l, static_cast<double>(plan.bytes[p]));
        }
      }
    }
    const node_id destination = plan.jobs.destination[j];
    if (i + 1 == order.size() || plan.jobs.destination[order[i + 1]] != destination) {
      flow.cut_cycles();
      flow.take(destination, out);
    }
  }
  return out;
}

}  // namespace sinew::route
