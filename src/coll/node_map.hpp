// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a communicator share a node, and where the blocks of all ranks lie if those of a
// node's ranks are together.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/coll/collectives.hpp"

namespace sinew::coll {

/// Nodes are numbered by their lowest rank. Keeps O(nodes + ranks of this node), and refers to the
/// session's own table of ranks.
class node_map {
 public:
  /// Nothing unless the ranks lie on several nodes, and some share one. Cold.
  [[nodiscard]] static std::optional<node_map> of(participant at);

  [[nodiscard]] int nodes() const noexcept { return static_cast<int>(first_.size()); }
  [[nodiscard]] int ranks() const noexcept { return members_.size(); }
  [[nodiscard]] int node_of(int r) const noexcept {
    const auto job_node = (*job_nodes_)[members_[comm_rank{r}].index()];
    return number_[static_cast<std::size_t>(job_node)];
  }
  [[nodiscard]] int count(int node) const noexcept {
    return counts_[static_cast<std::size_t>(node)];
  }
  /// The lowest rank of each node, ascending.
  [[nodiscard]] std::span<const int> first() const noexcept { return first_; }
  [[nodiscard]] int here() const noexcept { return here_; }
  /// The ranks of this rank's node, ascending.
  [[nodiscard]] std::span<const int> mine() const noexcept { return mine_; }
  /// How many ranks the fullest node has.
  [[nodiscard]] int largest() const noexcept { return largest_; }
  /// Whether each node's ranks follow each other.
  [[nodiscard]] bool consecutive() const noexcept { return consecutive_; }

 private:
  explicit node_map(core::group members) : members_(std::move(members)) {}

  core::group members_;
  const std::vector<int>* job_nodes_ = nullptr;  ///< node in the job, by rank in the job
  std::vector<int> number_;                      ///< by node in the job; -1: no rank is there
  std::vector<int> first_, counts_, mine_;
  int here_ = 0;
  int largest_ = 0;
  bool consecutive_ = true;
};

/// Blocks of all ranks as bytes: those of a node's ranks one behind the other, ascending, in the
/// order of nodes. Where `consecutive()`, that is the order of ranks. Throws std::bad_alloc.
class node_order {
 public:
  /// bytes(r): of rank r.
  template <class Bytes>
  node_order(const node_map& map, const Bytes& bytes)
      : starts_(static_cast<std::size_t>(map.nodes()) + 1),
        blocks_(static_cast<std::size_t>(map.ranks())) {
    for (int r = 0; r < map.ranks(); ++r) {
      std::size_t& of_node = starts_[static_cast<std::size_t>(map.node_of(r)) + 1];
      const std::size_t n = bytes(r);
      blocks_[static_cast<std::size_t>(r)] = {of_node, n};
      of_node += n;
    }
    for (std::size_t k = 1; k < starts_.size(); ++k) {
      starts_[k] += starts_[k - 1];
    }
    for (int r = 0; r < map.ranks(); ++r) {
      blocks_[static_cast<std::size_t>(r)].start += start(map.node_of(r));
    }
  }

  [[nodiscard]] std::size_t total() const noexcept { return starts_.back(); }
  [[nodiscard]] std::size_t start(int node) const noexcept {
    SINEW_EXPECT(node >= 0 && static_cast<std::size_t>(node) < starts_.size());
    return starts_[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] std::size_t bytes(int node) const noexcept { return start(node + 1) - start(node); }
  /// The blocks of a node and the block of a rank, if all begin at `base`.
  [[nodiscard]] buffer of_node(std::byte* base, int node) const noexcept {
    return buffer::of_bytes(base + start(node), bytes(node));
  }
  [[nodiscard]] buffer of_rank(std::byte* base, int r) const noexcept {
    const block b = blocks_[static_cast<std::size_t>(r)];
    return buffer::of_bytes(base + b.start, b.bytes);
  }

 private:
  struct block {
    std::size_t start;
    std::size_t bytes;
  };
  std::vector<std::size_t> starts_;  ///< by node, and the end
  std::vector<block> blocks_;        ///< by rank
};

}  // namespace sinew::coll
