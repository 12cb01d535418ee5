// SPDX-License-Identifier: BSD-3-Clause
// The daemons of a job as a tree: which one starts which, and by whom frames reach a host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sinew/run/frame_link.hpp"

namespace sinew::tool {

/// The launcher where a parent is named, in place of a node.
inline constexpr int launcher_node = -1;

/// The parent of each node: the launcher has up to `width` children, and so has each daemon. Those
/// that are `here`, on the launcher's own machine, are its children beside these.
[[nodiscard]] std::vector<int> host_tree(const std::vector<bool>& here, int width);
/// Ascending. Every child comes behind its parent, or `parents` is not a tree: see is_tree().
[[nodiscard]] std::vector<int> children_of(const std::vector<int>& parents, int parent);
[[nodiscard]] bool is_tree(const std::vector<int>& parents);
/// The child of `parent` that is `node` or leads to it; launcher_node if `parent` does not.
[[nodiscard]] int child_towards(const std::vector<int>& parents, int parent, int node);

/// What is said of a host whose daemon has ended, or cannot be believed, and of one that is silent.
[[nodiscard]] std::string daemon_is_lost(const std::string& host, const link_loss& how);
[[nodiscard]] std::string nothing_is_heard(const std::string& host, std::int64_t limit_ns);

}  // namespace sinew::tool
