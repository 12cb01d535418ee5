// SPDX-License-Identifier: BSD-3-Clause
// Yen's k shortest loopless paths with unit weights; the spurs are found by A* whose estimate, the
// hops left in the whole network, is exact but for the few links and nodes taken away.
#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "sinew/base/check.hpp"
#include "sinew/base/random.hpp"
#include "sinew/route/plan.hpp"
#include "walk.hpp"

namespace sinew::route {
namespace {

class yen {
 public:
  yen(const topology& net, node_id b, std::uint32_t most_hops, std::uint64_t order)
      : net_(net),
        b_(b),
        order_(order),
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
    std::set<candidate> candidates;
    while (out.size() < k) {
      extend(a, out, candidates);
      if (candidates.empty()) {
        break;
      }
      const std::vector<link_id>& next = candidates.begin()->links;
      SINEW_ASSERT(next.size() >= out.hops(out.size() - 1) && next.size() <= most_);
      SINEW_ASSERT(is_walk(net_, next, a, b_));
      out.add(next);
      candidates.erase(candidates.begin());
    }
    return out;
  }

 private:
  /// Ordered by length, then as asked, then by links: none twice.
  struct candidate {
    std::size_t length;
    std::uint64_t place;
    std::vector<link_id> links;
    auto operator<=>(const candidate&) const = default;
  };

  // A number of its own for each value, in the order that was asked for; 0 in the natural one.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t value) const {
    std::uint64_t state = value ^ (order_ << 32);
    return order_ == 0 ? 0 : split_mix(state);
  }
  [[nodiscard]] std::uint64_t place_of(const std::vector<link_id>& links) const {
    std::uint64_t place = 0;
    for (const link_id l : links) {
      place = place_of(place + l);
    }
    return place;
  }

  // Drawn anew for each spur: else the spurs of a path would all go the same way.
  [[nodiscard]] std::uint32_t draw_of(link_id l) const {
    return static_cast<std::uint32_t>(place_of(l + (std::uint64_t{now_} << 32)));
  }

  void extend(node_id a, const path_set& found, std::set<candidate>& candidates) {
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
        candidates.insert({path.size(), place_of(path), path});
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
    SINEW_EXPECT(n != b_ && left_[n] != nothing && banned_[n] != ban_);
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
        --order;  // of equals the latest: straight on
        open.push({hops + left_[to], order_ == 0 ? order : draw_of(l), to});
      }
    }
    return false;
  }

  const topology& net_;
  node_id b_;
  std::uint64_t order_;
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
                        std::uint32_t most_hops, std::uint64_t order) {
  path_set none;
  if (a == b) {
    none.close();
  }
  if (a == b || k == 0) {
    return none;
  }
  return yen(net, b, most_hops, order).run(a, k);
}

}  // namespace sinew::route
