// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/host_tree.hpp"

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::tool {

std::vector<int> host_tree(const std::vector<bool>& here, int width) {
  SINEW_EXPECT(width >= 1);
  std::vector<int> parents;
  std::vector<int> others;  // in whose order the tree is filled, level by level
  for (int node = 0; node < static_cast<int>(here.size()); ++node) {
    if (here[static_cast<std::size_t>(node)]) {
      parents.push_back(launcher_node);
      continue;
    }
    const int place = static_cast<int>(others.size());
    parents.push_back(place < width ? launcher_node
                                    : others[static_cast<std::size_t>(place / width - 1)]);
    others.push_back(node);
  }
  SINEW_ENSURE(is_tree(parents));
  return parents;
}

std::vector<int> children_of(const std::vector<int>& parents, int parent) {
  std::vector<int> children;
  for (int node = 0; node < static_cast<int>(parents.size()); ++node) {
    if (parents[static_cast<std::size_t>(node)] == parent) {
      children.push_back(node);
    }
  }
  return children;
}

bool is_tree(const std::vector<int>& parents) {
  for (int node = 0; node < static_cast<int>(parents.size()); ++node) {
    const int parent = parents[static_cast<std::size_t>(node)];
    if (parent < launcher_node || parent >= node) {
      return false;
    }
  }
  return true;
}

int child_towards(const std::vector<int>& parents, int parent, int node) {
  while (node > parent) {
    SINEW_EXPECT(static_cast<std::size_t>(node) < parents.size());
    const int above = parents[static_cast<std::size_t>(node)];
    if (above == parent) {
      return node;
    }
    node = above;
  }
  return launcher_node;
}

std::string daemon_is_lost(const std::string& host, const link_loss& how) {
  return how.by_other_side
             ? "the daemon on the host " + host + " has ended, or was killed (" + how.why +
                   "); look there for what kills processes of this user"
             : "the connection with the host " + host + " is given up: " + how.why +
                   "; on a network that is not to be trusted, --through-agent does without it";
}

std::string nothing_is_heard(const std::string& host, std::int64_t limit_ns) {
  return "the host " + host + " is lost: nothing was heard of it for " +
         std::to_string(limit_ns / second_ns) +
         " s (it is down, or the network to it is cut); its ranks end by themselves. A slow "
         "network needs a larger --host-timeout";
}

}  // namespace sinew::tool
