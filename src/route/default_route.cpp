// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/route/default_route.hpp"

#include <algorithm>
#include <numeric>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "walk.hpp"

namespace sinew::route {
namespace {

// The i-th pick looks at all dimensions cyclically from the i-th on and takes the first longest
// that is left: among equals this is not the alphabet's order (8 x 16 nodes of 4x4x4x8x2: D B C A
// E).
std::vector<std::size_t> longest_first(const std::vector<std::uint32_t>& sizes) {
  const std::size_t n = sizes.size();
  std::vector<bool> used(n, false);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t best = n;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t d = (i + k) % n;
      if (!used[d] && (best == n || sizes[d] > sizes[best])) {
        best = d;
      }
    }
    SINEW_ASSERT(best < n);
    used[best] = true;
    order.push_back(best);
  }
  return order;
}

}  // namespace

default_router::default_router(const topology& net, dimension_order order, std::uint64_t seed)
    : net_(net), how_(order), seed_(seed) {
  order_ = longest_first(net.grid().sizes);
  if (order != dimension_order::longest_first) {
    std::iota(order_.begin(), order_.end(), 0u);
  }
  if (order == dimension_order::descending) {
    std::reverse(order_.begin(), order_.end());
  }
}

bool default_router::append(node_id a, node_id b, std::vector<link_id>& out) {
  SINEW_EXPECT(a < net_.nodes() && b < net_.nodes());
  const std::size_t before = out.size();
  const bool found = net_.grid().empty() ? append_graph(a, b, out) : append_grid(a, b, out);
  if (!found) {
    out.resize(before);
  }
  SINEW_ENSURE(!found || is_walk(net_, std::span(out).subspan(before), a, b));
  return found;
}

bool default_router::append_grid(node_id a, node_id b, std::vector<link_id>& out) {
  if (how_ == dimension_order::shuffled) {
    std::iota(order_.begin(), order_.end(), 0u);
    random_generator draw(seed_ ^ ((std::uint64_t{a} << 32) | b));
    for (std::size_t i = order_.size(); i > 1; --i) {
      std::swap(order_[i - 1], order_[draw.below(i)]);
    }
  }
  node_id at = a;
  for (const std::size_t d : order_) {
    const std::uint32_t size = net_.grid().sizes[d];
    const std::uint32_t from = net_.coordinate(a, d);
    const std::uint32_t to = net_.coordinate(b, d);
    std::uint32_t steps = (to + size - from) % size;
    bool up = true;
    if (!net_.grid().wraps[d]) {
      up = to > from;
      steps = up ? to - from : from - to;
    } else if (2 * steps > size) {
      up = false;
      steps = size - steps;
    } else if (2 * steps == size) {
      up = (to > from) == (from % 2 == 0);
    }
    for (; steps > 0; --steps) {
      const link_id l = net_.step(at, d, up);
      SINEW_ASSERT(l != nothing);  // the shorter way never leads over a mesh's border
      if (net_.capacity(l) <= 0) {
        return false;
      }
      out.push_back(l);
      at = net_.to(l);
    }
  }
  return true;
}

void default_router::measure_to(node_id b) {
  hops_to_.assign(net_.nodes(), nothing);
  queue_.clear();
  queue_.push_back(b);
  hops_to_[b] = 0;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    for (const link_id l : net_.links_into(queue_[i])) {
      if (net_.capacity(l) <= 0 || hops_to_[net_.from(l)] != nothing) {
        continue;
      }
      hops_to_[net_.from(l)] = hops_to_[queue_[i]] + 1;
      queue_.push_back(net_.from(l));
    }
  }
  measured_ = b;
}

bool default_router::append_graph(node_id a, node_id b, std::vector<link_id>& out) {
  if (hops_to(b)[a] == nothing) {
    return false;
  }
  const auto nearer = [&](node_id at, link_id l) {
    return net_.capacity(l) > 0 && hops_to_[net_.to(l)] + 1 == hops_to_[at];
  };
  for (node_id at = a; at != b;) {
    std::uint32_t choices = 0;
    for (link_id l = net_.first_link(at); l < net_.first_link(at + 1); ++l) {
      choices += nearer(at, l);
    }
    SINEW_ASSERT(choices != 0);  // one hop nearer there is always a way
    std::uint32_t skip = b % choices;
    link_id l = net_.first_link(at);
    while (!nearer(at, l) || skip-- > 0) {
      ++l;
    }
    SINEW_ASSERT(l < net_.first_link(at + 1));
    out.push_back(l);
    at = net_.to(l);
  }
  return true;
}

path_set default_paths(const topology& net, const job_list& jobs, dimension_order order,
                       std::uint64_t seed) {
  default_router router(net, order, seed);
  path_set paths;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    SINEW_CHECK(router.append(jobs.source[j], jobs.destination[j], paths.links),
                "no default route from node " + std::to_string(jobs.source[j]) + " to node " +
                    std::to_string(jobs.destination[j]),
                "the network is disconnected or the route crosses a failed link",
                "plan with a method that avoids failed links");
    paths.close();
  }
  return paths;
}

}  // namespace sinew::route
