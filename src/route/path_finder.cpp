// SPDX-License-Identifier: BSD-3-Clause
#include "path_finder.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "sinew/base/check.hpp"
#include "walk.hpp"

namespace sinew::route {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::vector<std::uint32_t> numbers_to(std::size_t n) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

}  // namespace

box_finder::box_finder(const topology& net, const job_list& jobs, std::uint64_t seed,
                       const skeleton_set* skeletons, std::span<const link_id> orbit)
    : net_(net),
      jobs_(jobs),
      draw_(seed),
      skeletons_(skeletons),
      orbit_(orbit),
      seen_(net.nodes(), 0) {
  SINEW_EXPECT(!net.grid().empty());
  SINEW_EXPECT(orbit.empty() || orbit.size() == net.links());
  order_ = numbers_to(jobs.size());
}

// In each dimension the shorter way; half way round either; and sometimes the longer one where it
// is at most two steps longer.
void box_finder::choose_sides(node_id a, node_id b, const std::vector<bool>* except) {
  for (std::uint32_t d = 0; d < net_.dimensions(); ++d) {
    const std::uint32_t size = net_.grid().sizes[d];
    const std::uint32_t from = net_.coordinate(a, d);
    const std::uint32_t to = net_.coordinate(b, d);
    if (from == to || (except != nullptr && (*except)[d])) {
      continue;
    }
    std::uint32_t ahead = (to + size - from) % size;
    bool up = 2 * ahead < size;
    if (!net_.grid().wraps[d]) {
      up = to > from;
      ahead = up ? to - from : size - (from - to);
    } else if (size > 2) {
      const std::uint32_t shorter = std::min(ahead, size - ahead);
      if (2 * shorter == size) {
        up = draw_() & 1;
      }
      if (2 * shorter < size && size - 2 * shorter <= 2 && (draw_() & 3) == 0) {
        up = !up;
      }
    }
    sides_.push_back({{static_cast<std::uint8_t>(d), up}, up ? ahead : size - ahead});
  }
}

// Costs of all places of the box from its corner a on; returns that of the far corner. Places are
// visited in ascending order, so each is final before it hands its cost on. What is too dear hands
// on nothing: with prices that grow exponentially that is nearly all of a large box.
double box_finder::search(node_id a, std::span<const double> price, double below) {
  std::uint32_t places = 1;
  strides_.resize(sides_.size());
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    strides_[s] = places;
    places *= sides_[s].steps + 1;
  }
  // No side is longer than its dimensions, and a skeleton visits no place of its dimensions twice.
  SINEW_ASSERT(places <= net_.nodes());
  if (node_.size() < places) {
    node_.resize(places);
    cost_.resize(places);
    last_.resize(places);
  }
  std::fill(cost_.begin(), cost_.begin() + places, never);
  digits_.assign(sides_.size(), 0);
  node_[0] = a;
  cost_[0] = 0;
  for (std::uint32_t at = 0; at < places; ++at) {
    const double here = cost_[at];
    const node_id n = node_[at];
    for (std::size_t s = 0; here < below && s < sides_.size(); ++s) {
      if (digits_[s] == sides_[s].steps) {
        continue;
      }
      const grid_step go = sides_[s].way == nullptr ? sides_[s].step : sides_[s].way[digits_[s]];
      const link_id l = net_.step(n, go.dimension, go.up);
      SINEW_ASSERT(l != nothing);  // the box lies within the borders of a mesh
      const std::uint32_t next = at + strides_[s];
      const double there = here + price[seat(l)];
      node_[next] = net_.to(l);
      if (there < cost_[next]) {
        cost_[next] = there;
        last_[next] = static_cast<std::uint8_t>(s);
      }
    }
    for (std::size_t s = 0; s < sides_.size() && ++digits_[s] > sides_[s].steps; ++s) {
      digits_[s] = 0;
    }
  }
  return cost_[places - 1];
}

void box_finder::trace(node_id b, std::vector<link_id>& out) const {
  const std::size_t begin = out.size();
  std::uint32_t at = 0;
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    at += strides_[s] * sides_[s].steps;
  }
  for (node_id n = b; at != 0;) {
    SINEW_ASSERT(cost_[at] < never);  // else the side of the last step is that of another search
    const std::uint8_t s = last_[at];
    at -= strides_[s];
    out.push_back(net_.find(node_[at], n));
    n = node_[at];
  }
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
}

// The two steps alone are a lower bound of the way round: most need no search.
void box_finder::try_aside(node_id a, node_id b, std::span<const double> price, double& cheapest) {
  struct aside {
    double cost;
    link_id out, back;
  };
  std::array<aside, 2> tries{aside{never, 0, 0}, aside{never, 0, 0}};
  for (std::size_t d = 0; d < net_.dimensions(); ++d) {
    for (const bool up : {false, true}) {
      const link_id away = net_.step(a, d, up);
      const link_id beyond = net_.step(b, d, up);
      if (away == nothing || beyond == nothing) {
        continue;
      }
      const link_id back = net_.step(net_.to(beyond), d, !up);
      const double cost = price[seat(away)] + price[seat(back)];
      if (cost < tries[1].cost) {
        tries[1] = {cost, away, back};
      }
      if (tries[1].cost < tries[0].cost) {
        std::swap(tries[0], tries[1]);
      }
    }
  }
  for (const aside& t : tries) {
    if (t.cost >= cheapest) {
      break;
    }
    const double cost = t.cost + search(net_.to(t.out), price, cheapest - t.cost);
    if (cost >= cheapest) {
      continue;
    }
    cheapest = cost;
    best_.assign(1, t.out);
    trace(net_.from(t.back), best_);
    best_.push_back(t.back);
  }
}

void box_finder::try_skeletons(std::size_t j, std::span<const double> price, double& cheapest) {
  const std::uint32_t ways = skeletons_->count(j);
  for (std::uint32_t i = 0; i < ways; ++i) {
    const auto way = skeletons_->way(j, i);
    sides_.assign(1, {{}, static_cast<std::uint32_t>(way.size()), way.data()});
    choose_sides(jobs_.source[j], jobs_.destination[j], &skeletons_->kept);
    const double cost = search(jobs_.source[j], price, cheapest);
    if (cost >= cheapest) {
      continue;
    }
    cheapest = cost;
    best_.clear();
    trace(jobs_.destination[j], best_);
  }
}

// A step aside and a skeleton may lead through a node twice; what lies between is not needed.
void box_finder::cut_loops(node_id a) {
  ++call_;
  std::size_t kept = 0;
  seen_[a] = std::uint64_t{call_} << 32;
  for (const link_id l : best_) {
    const node_id n = net_.to(l);
    best_[kept++] = l;
    // Nodes of an earlier loop are stale: what stands at their place in the path is another link.
    const auto before = static_cast<std::size_t>(seen_[n] & 0xffffffff);
    const bool again = seen_[n] >> 32 == call_ && before < kept &&
                       (before == 0 ? n == a : net_.to(best_[before - 1]) == n);
    if (again) {
      kept = before;
    }
    seen_[n] = std::uint64_t{call_} << 32 | kept;
  }
  best_.resize(kept);
}

bool box_finder::find(std::size_t j, std::span<const double> price, double below,
                      std::vector<link_id>& out) {
  const node_id a = jobs_.source[j];
  const node_id b = jobs_.destination[j];
  sides_.clear();
  choose_sides(a, b, nullptr);
  double cheapest = below;
  best_.clear();
  if (const double cost = search(a, price, below); cost < below) {
    cheapest = cost;
    trace(b, best_);
  }
  try_aside(a, b, price, cheapest);
  if (skeletons_ != nullptr) {
    try_skeletons(j, price, cheapest);
  }
  if (cheapest >= below) {
    return false;
  }
  cut_loops(a);
  SINEW_ENSURE(!best_.empty() && is_walk(net_, best_, a, b));
  out.insert(out.end(), best_.begin(), best_.end());
  return true;
}

tree_finder::tree_finder(const topology& net, const job_list& jobs, std::span<const link_id> orbit)
    : net_(net), jobs_(jobs), orbit_(orbit) {
  const std::unordered_set<node_id> from(jobs.source.begin(), jobs.source.end());
  const std::unordered_set<node_id> to(jobs.destination.begin(), jobs.destination.end());
  SINEW_EXPECT(orbit.empty() || orbit.size() == net.links());
  from_sources_ = from.size() <= to.size();
  order_ = numbers_to(jobs.size());
  const auto& root = from_sources_ ? jobs.source : jobs.destination;
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t x, std::uint32_t y) { return root[x] < root[y]; });
}

void tree_finder::grow(node_id root, std::span<const double> price) {
  SINEW_EXPECT(root < net_.nodes() && price.size() == net_.links());
  cost_.assign(net_.nodes(), never);
  link_.resize(net_.nodes());
  cost_[root] = 0;
  heap_.assign(1, {0, root});
  const auto reach = [&](node_id n, link_id l, double cost) {
    SINEW_ASSERT(price[seat(l)] > 0);  // a cost that is final may not fall again
    if (cost >= cost_[n]) {
      return;
    }
    cost_[n] = cost;
    link_[n] = l;
    heap_.emplace_back(cost, n);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  };
  while (!heap_.empty()) {
    const auto [cost, n] = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    if (cost > cost_[n]) {
      continue;
    }
    if (from_sources_) {
      for (link_id l = net_.first_link(n); l < net_.first_link(n + 1); ++l) {
        reach(net_.to(l), l, cost + price[seat(l)]);
      }
    } else {
      for (const link_id l : net_.links_into(n)) {
        reach(net_.from(l), l, cost + price[seat(l)]);
      }
    }
  }
  root_ = root;
}

double tree_finder::cost(std::size_t j, std::span<const double> price) {
  const node_id root = from_sources_ ? jobs_.source[j] : jobs_.destination[j];
  if (root_ != root) {
    grow(root, price);
  }
  return cost_[from_sources_ ? jobs_.destination[j] : jobs_.source[j]];
}

bool tree_finder::find(std::size_t j, std::span<const double> price, double below,
                       std::vector<link_id>& out) {
  if (cost(j, price) >= below) {
    return false;
  }
  const std::size_t begin = out.size();
  if (from_sources_) {
    for (node_id n = jobs_.destination[j]; n != root_; n = net_.from(link_[n])) {
      out.push_back(link_[n]);
    }
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
  } else {
    for (node_id n = jobs_.source[j]; n != root_; n = net_.to(link_[n])) {
      out.push_back(link_[n]);
    }
  }
  SINEW_ENSURE(is_walk(net_, std::span(out).subspan(begin), jobs_.source[j], jobs_.destination[j]));
  return true;
}

}  // namespace sinew::route
