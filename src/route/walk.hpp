// SPDX-License-Identifier: BSD-3-Clause
// What every finder of paths ensures of its results.
#pragma once

#include <span>

#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// Whether the links lead from a to b, each working and from where the one before ends.
[[nodiscard]] inline bool is_walk(const topology& net, std::span<const link_id> path, node_id a,
                                  node_id b) noexcept {
  for (const link_id l : path) {
    if (net.from(l) != a || net.capacity(l) <= 0) {
      return false;
    }
    a = net.to(l);
  }
  return a == b;
}

}  // namespace sinew::route
