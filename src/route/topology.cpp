// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/route/topology.hpp"

#include <algorithm>
#include <numeric>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "sinew/base/settings.hpp"
#include "size_limit.hpp"

namespace sinew::route {
namespace {

setting<std::int64_t> memory_limit("route", "memory", std::int64_t{4} << 30, "bytes",
                                   "largest network or plan that the planner will build",
                                   {.least = 1 << 20, .most = most_setting_bytes});

// The bytes that the tables below take, with the list from which they are made.
std::int64_t bytes_needed(std::uint64_t nodes, std::uint64_t links, std::size_t dimensions) {
  return static_cast<std::int64_t>(nodes * (8 + 8 * dimensions) +
                                   links * (2 * sizeof(arc) + 4 * sizeof(std::uint32_t)));
}

}  // namespace

void check_size(const std::string& name, std::uint64_t nodes, std::uint64_t links,
                std::size_t dimensions) {
  SINEW_CHECK(nodes > 0, name + " has no nodes", "a network needs at least one", "");
  const std::int64_t need = bytes_needed(nodes, links, dimensions);
  SINEW_CHECK(nodes < nothing && links < nothing && need <= memory_limit(), name + " is too large",
              "it would take " + std::to_string(need >> 20) + " MiB",
              "SINEW_ROUTE_MEMORY sets the limit");
}

topology::topology(std::string name, std::uint32_t nodes, std::uint32_t endpoints,
                   std::vector<arc> links, grid_shape grid)
    : name_(std::move(name)), endpoints_(endpoints), grid_(std::move(grid)) {
  check_size(name_, nodes, links.size(), grid_.sizes.size());
  SINEW_CHECK(endpoints >= 1 && endpoints <= nodes, name_ + " is malformed",
              "it needs between 1 and all nodes as endpoints", "");
  for (const arc& l : links) {
    const std::string which = "the link " + std::to_string(l.from) + "-" + std::to_string(l.to);
    SINEW_CHECK(l.from < nodes && l.to < nodes, which + " is no link of " + name_,
                "nodes are 0.." + std::to_string(nodes - 1), "");
    SINEW_CHECK(l.from != l.to, which + " is a loop", "a node needs no link to itself", "");
    SINEW_CHECK(l.capacity >= 0 && l.capacity < 1e12, which + " has no usable capacity",
                "it is counted in cables, 0 for a failed link", "");
  }
  std::sort(links.begin(), links.end(), [](const arc& a, const arc& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  first_.assign(std::size_t{nodes} + 1, 0);
  into_first_.assign(std::size_t{nodes} + 1, 0);
  for (const arc& l : links) {
    if (!to_.empty() && from_.back() == l.from && to_.back() == l.to) {
      capacity_.back() += l.capacity;
      continue;
    }
    from_.push_back(l.from);
    to_.push_back(l.to);
    capacity_.push_back(l.capacity);
    ++first_[l.from + 1];
    ++into_first_[l.to + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::partial_sum(into_first_.begin(), into_first_.end(), into_first_.begin());
  into_.resize(to_.size());
  std::vector<std::uint32_t> at(into_first_.begin(), into_first_.end() - 1);
  for (link_id l = 0; l < to_.size(); ++l) {
    into_[at[to_[l]]++] = l;
  }
  SINEW_ASSERT(std::equal(at.begin(), at.end(), into_first_.begin() + 1));
  index_grid();
}

void topology::index_grid() {
  if (grid_.empty()) {
    return;
  }
  SINEW_EXPECT(grid_.wraps.size() == grid_.sizes.size());
  strides_.assign(dimensions(), 1);
  for (std::size_t d = dimensions() - 1; d > 0; --d) {
    strides_[d - 1] = strides_[d] * grid_.sizes[d];
  }
  SINEW_EXPECT(std::uint64_t{strides_[0]} * grid_.sizes[0] == nodes());
  ports_.assign(std::size_t{nodes()} * dimensions() * 2, nothing);
  for (node_id n = 0; n < nodes(); ++n) {
    for (std::size_t d = 0; d < dimensions(); ++d) {
      const std::uint32_t size = grid_.sizes[d];
      const std::uint32_t at = coordinate(n, d);
      const node_id base = n - at * strides_[d];
      const std::size_t port = (n * dimensions() + d) * 2;
      if (size < 2) {
        continue;
      }
      if (at > 0 || grid_.wraps[d]) {
        ports_[port] = find(n, base + (at + size - 1) % size * strides_[d]);
      }
      if (at + 1 < size || grid_.wraps[d]) {
        ports_[port + 1] = find(n, base + (at + 1) % size * strides_[d]);
      }
    }
  }
}

link_id topology::find(node_id a, node_id b) const noexcept {
  SINEW_EXPECT(a < nodes() && b < nodes());
  const auto begin = to_.begin() + first_[a];
  const auto end = to_.begin() + first_[a + 1];
  SINEW_ASSERT(std::is_sorted(begin, end));
  const auto at = std::lower_bound(begin, end, b);
  return at != end && *at == b ? static_cast<link_id>(at - to_.begin()) : nothing;
}

topology topology::without(std::span<const std::pair<node_id, node_id>> failed) const {
  topology copy = *this;
  for (const auto& [a, b] : failed) {
    const link_id l = a < nodes() && b < nodes() ? find(a, b) : nothing;
    SINEW_CHECK(l != nothing,
                "the failed link " + std::to_string(a) + "-" + std::to_string(b) + " is no link",
                name_ + " has none between these nodes", "");
    copy.capacity_[l] = 0;
  }
  return copy;
}

topology topology::with_speeds(std::string name, const link_speeds& speeds) const {
  topology copy = *this;
  copy.name_ = std::move(name);
  copy.speeds_ = speeds;
  return copy;
}

std::string topology::label(node_id n) const {
  SINEW_EXPECT(n < nodes());
  return labels_.empty() ? std::to_string(n) : labels_[n];
}

topology topology::with_labels(std::vector<std::string> labels) const {
  SINEW_EXPECT(labels.size() == nodes());
  topology copy = *this;
  copy.labels_ = std::move(labels);
  return copy;
}

std::uint64_t topology::fingerprint() const noexcept {
  std::uint64_t state = nodes();
  const auto mix = [&state](std::uint64_t word) {
    state ^= word;
    state = split_mix(state);
  };
  mix(endpoints_);
  for (link_id l = 0; l < links(); ++l) {
    mix((std::uint64_t{from_[l]} << 32) | to_[l]);
    mix(static_cast<std::uint64_t>(capacity_[l] * 1024));
  }
  return state;
}

topology make_grid(grid_shape shape, ring_of_two rings) {
  SINEW_CHECK(!shape.sizes.empty() && shape.wraps.size() == shape.sizes.size(),
              "a grid without dimensions", "it needs at least one size", "for example 4x4x8");
  SINEW_CHECK(shape.sizes.size() <= 24, "a grid of too many dimensions", "at most 24", "");
  std::uint64_t nodes = 1;
  std::string name;
  for (std::size_t d = 0; d < shape.sizes.size(); ++d) {
    SINEW_CHECK(shape.sizes[d] > 0, "a dimension of size 0", "each size is at least 1", "");
    nodes *= shape.sizes[d];
    name += (d > 0 ? "x" : "") + std::to_string(shape.sizes[d]) + (shape.wraps[d] ? "" : "m");
    check_size("the grid " + name, nodes, nodes * 2 * shape.sizes.size(), shape.sizes.size());
  }
  if (rings == ring_of_two::two_cables) {
    name.insert(0, "torus2:");
  }
  std::vector<arc> links;
  std::uint32_t stride = 1;
  for (std::size_t d = shape.sizes.size(); d-- > 0;) {
    const std::uint32_t size = shape.sizes[d];
    for (node_id n = 0; n < nodes; ++n) {
      const std::uint32_t at = n / stride % size;
      if (at + 1 < size) {
        const double cables = size == 2 && shape.wraps[d] && rings == ring_of_two::two_cables;
        links.push_back({n, n + stride, 1 + cables});
        links.push_back({n + stride, n, 1 + cables});
      } else if (size > 2 && shape.wraps[d]) {
        links.push_back({n, n - at * stride, 1});
        links.push_back({n - at * stride, n, 1});
      }
    }
    stride *= size;
  }
  const auto count = static_cast<std::uint32_t>(nodes);
  return {std::move(name), count, count, std::move(links), std::move(shape)};
}

topology make_torus(std::vector<std::uint32_t> sizes, ring_of_two rings) {
  std::vector<bool> wraps(sizes.size(), true);
  return make_grid({std::move(sizes), std::move(wraps)}, rings);
}

topology make_mesh(std::vector<std::uint32_t> sizes) {
  std::vector<bool> wraps(sizes.size(), false);
  return make_grid({std::move(sizes), std::move(wraps)});
}

topology make_hypercube(std::uint32_t dimensions) {
  return make_torus(std::vector<std::uint32_t>(dimensions, 2));
}

}  // namespace sinew::route
