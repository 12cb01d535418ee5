// SPDX-License-Identifier: BSD-3-Clause
// The two levels of a call on several nodes as one rank sees them: the ranks of its node, and one
// rank of each node, its leader. That is a node's lowest rank; in a call with a root the root is
// its node's. Which ranks share a node, and so everything that is decided here, is known to all
// ranks alike.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "coll/algorithms.hpp"
#include "coll/node_map.hpp"

namespace sinew::coll {

class two_levels {
 public:
  explicit two_levels(const position& at, int root = -1)
      : map_(*at.nodes), team_(at.team), leaders_(map_.first().begin(), map_.first().end()) {
    if (root >= 0) {
      leaders_[static_cast<std::size_t>(map_.node_of(root))] = root;
    }
    member_ = member_of(at.rank);
    lead_ = member_of(leader());
    fan_ = at.fan;
    SINEW_EXPECT(mine()[static_cast<std::size_t>(member_)] == at.rank);
    SINEW_EXPECT(team_ == nullptr || !alone());
  }

  [[nodiscard]] const node_map& map() const noexcept { return map_; }
  /// Over the memory of this node; null: by messages, or this rank is alone.
  [[nodiscard]] node::team* team() const noexcept { return team_; }
  /// The ranks of this node, of which this one is number member() and the leader number lead().
  [[nodiscard]] std::span<const int> mine() const noexcept { return map_.mine(); }
  [[nodiscard]] int member() const noexcept { return member_; }
  [[nodiscard]] int lead() const noexcept { return lead_; }
  [[nodiscard]] bool leads() const noexcept { return member_ == lead_; }
  [[nodiscard]] bool alone() const noexcept { return mine().size() == 1; }
  [[nodiscard]] std::span<const int> leaders() const noexcept { return leaders_; }
  [[nodiscard]] int leader(int node) const noexcept {
    return leaders_[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] int leader() const noexcept { return leader(map_.here()); }

  [[nodiscard]] position inside() const noexcept {
    return {member_, static_cast<int>(mine().size()), nullptr, nullptr, fan_};
  }
  [[nodiscard]] position between() const noexcept {
    return {map_.here(), map_.nodes(), nullptr, nullptr, fan_};
  }

 private:
  [[nodiscard]] int member_of(int r) const noexcept {
    const auto found = std::lower_bound(mine().begin(), mine().end(), r);
    return static_cast<int>(found - mine().begin());
  }

  const node_map& map_;
  node::team* team_;
  std::vector<int> leaders_;  ///< by node
  int member_ = 0;
  int lead_ = 0;
  int fan_ = 2;
};

}  // namespace sinew::coll
