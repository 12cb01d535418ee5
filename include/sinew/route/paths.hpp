// SPDX-License-Identifier: BSD-3-Clause
// Lists of jobs and of paths, flat: what patterns make, routes fill and plans hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// Who sends how much to whom. Three columns of equal length.
struct job_list {
  std::vector<node_id> source;
  std::vector<node_id> destination;
  std::vector<std::uint64_t> bytes;

  [[nodiscard]] std::size_t size() const noexcept { return source.size(); }
  void add(node_id from, node_id to, std::uint64_t count) {
    source.push_back(from);
    destination.push_back(to);
    bytes.push_back(count);
  }
};

/// Paths as rows of links; a path without links stays on its node.
struct path_set {
  std::vector<std::size_t> first = {0};
  std::vector<link_id> links;

  [[nodiscard]] std::size_t size() const noexcept { return first.size() - 1; }
  [[nodiscard]] std::span<const link_id> operator[](std::size_t p) const noexcept {
    SINEW_EXPECT(p < size() && first[p] <= first[p + 1] && first[p + 1] <= links.size());
    return {links.data() + first[p], first[p + 1] - first[p]};
  }
  [[nodiscard]] std::size_t hops(std::size_t p) const noexcept { return first[p + 1] - first[p]; }
  /// Ends the path whose links were appended to `links`.
  void close() {
    SINEW_EXPECT(first.back() <= links.size());
    first.push_back(links.size());
  }
  void add(std::span<const link_id> path) {
    links.insert(links.end(), path.begin(), path.end());
    close();
  }
};

}  // namespace sinew::route
