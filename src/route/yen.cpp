// Yen's k shortest loopless paths with unit weights; the spurs are found by A* whose estimate, the
// hops left in the whole network, is exact but for the few links and nodes taken away.
#include <algorithm>
#include <queue>
#include <set>

#include "sinew/route/plan.hpp"

namespace sinew::route {
namespace {

class yen {
 public:
  yen(const topology& net, node_id b, std::uint32_t most_hops)
      : net_(net),
        b_(b),
        most_(most_hops),
        left_(net.nodes(), nothing),
        seen_(net.nodes(), 0),
        banned_(net.nodes(), 0),
        via_(net.nodes(), nothing),
        hops_(net.nodes(), 0) {
    std::vector<node_id> queue = {b};
    left_[b] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const link_id l : net.links_into(queue[i])) {
        const node_id n = net.from(l);
        if (net.capacity(l) <= 0 || left_[n] != nothing) {
          continue;
        }
        left_[n] = left_[queue[i]] + 1;
        queue.push_back(n);
      }
    }
  }

  path_set run(node_id a, std::uint32_t k) {
    path_set out;
    std::vector<link_id> path;
    if (left_[a] == nothing || !spur(a, {}, path)) {
      return out;
    }
    out.add(path);
    // Ordered by length, then by links: no candidate twice.
    std::set<std::pair<std::size_t, std::vector<link_id>>> candidates;
    while (out.size() < k) {
      extend(a, out, candidates);
      if (candidates.empty()) {
        break;
      }
      out.add(candidates.begin()->second);
      candidates.erase(candidates.begin());
    }
    return out;
  }

 private:
  void extend(node_id a, const path_set& found,
              std::set<std::pair<std::size_t, std::vector<link_id>>>& candidates) {
    const auto last = found[found.size() - 1];
    std::vector<link_id> path;
    ++ban_;
    node_id at = a;
    for (std::size_t i = 0; i < last.size(); ++i) {
      std::vector<link_id> taken;
      for (std::size_t p = 0; p < found.size(); ++p) {
        const auto other = found[p];
        if (other.size() > i &&
            std::equal(last.begin(), last.begin() + static_cast<long>(i), other.begin())) {
          taken.push_back(other[i]);
        }
      }
      path.assign(last.begin(), last.begin() + static_cast<long>(i));
      if (spur(at, taken, path)) {
        candidates.emplace(path.size(), path);
      }
      banned_[at] = ban_;
      at = net_.to(last[i]);
    }
  }

  // Appends a shortest way from n to b without the taken links and the banned nodes.
  bool spur(node_id n, const std::vector<link_id>& taken, std::vector<link_id>& path) {
    struct state {
      std::uint32_t length;
      std::uint32_t order;
      node_id node;
      bool operator>(const state& o) const {
        return std::pair(length, order) > std::pair(o.length, o.order);
      }
    };
    const auto used = static_cast<std::uint32_t>(path.size());
    std::priority_queue<state, std::vector<state>, std::greater<>> open;
    ++now_;
    std::uint32_t order = 0;
    seen_[n] = now_;
    hops_[n] = 0;
    open.push({left_[n], order, n});
    while (!open.empty()) {
      const node_id at = open.top().node;
      open.pop();
      if (at == b_) {
        const std::size_t begin = path.size();
        for (node_id back = b_; back != n; back = net_.from(via_[back])) {
          path.push_back(via_[back]);
        }
        std::reverse(path.begin() + static_cast<long>(begin), path.end());
        return true;
      }
      for (link_id l = net_.first_link(at); l < net_.first_link(at + 1); ++l) {
        const node_id to = net_.to(l);
        if (net_.capacity(l) <= 0 || left_[to] == nothing || banned_[to] == ban_) {
          continue;
        }
        if (at == n && std::find(taken.begin(), taken.end(), l) != taken.end()) {
          continue;
        }
        const std::uint32_t hops = hops_[at] + 1;
        if (used + hops + left_[to] > most_ || (seen_[to] == now_ && hops_[to] <= hops)) {
          continue;
        }
        seen_[to] = now_;
        hops_[to] = hops;
        via_[to] = l;
        open.push({hops + left_[to], --order, to});  // of equals the latest: straight on
      }
    }
    return false;
  }

  const topology& net_;
  node_id b_;
  std::uint32_t most_;
  std::vector<std::uint32_t> left_;
  std::vector<std::uint32_t> seen_;
  std::vector<std::uint32_t> banned_;
  std::vector<link_id> via_;
  std::vector<std::uint32_t> hops_;
  std::uint32_t now_ = 0;
  std::uint32_t ban_ = 1;
};

}  // namespace

path_set shortest_paths(const topology& net, node_id a, node_id b, std::uint32_t k,
                        std::uint32_t most_hops) {
  path_set none;
  if (a == b) {
    none.close();
  }
  if (a == b || k == 0) {
    return none;
  }
  return yen(net, b, most_hops).run(a, k);
}

}  // namespace sinew::route
