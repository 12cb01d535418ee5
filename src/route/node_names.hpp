// SPDX-License-Identifier: BSD-3-Clause
// Nodes by the names that files give them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sinew/route/topology.hpp"

namespace sinew::route {

/// Labels first, then numbers.
class node_names {
 public:
  explicit node_names(const topology& net);

  [[nodiscard]] std::optional<node_id> labelled(std::string_view name) const;
  [[nodiscard]] std::optional<node_id> find(std::string_view name) const;

 private:
  const topology& net_;
  std::unordered_map<std::string, node_id> by_label_;
};

}  // namespace sinew::route
