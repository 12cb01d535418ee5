// SPDX-License-Identifier: BSD-3-Clause
// The compressed type map: a small immutable tree. A node is one of
//   runs      a list of runs of bytes,
//   loop      a child repeated at a fixed distance,
//   sequence  children one after the other, each at its offset.
// Loops cost the same whatever their count. Every node knows its packed bytes, so any packed offset
// is found by a division per loop and a binary search per list.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sinew/layout/datatype.hpp"

namespace sinew::layout {

struct node;
using node_ref = std::shared_ptr<const node>;  ///< null: no data

struct node {
  enum class shape : unsigned char { runs, loop, sequence };

  struct run {
    std::ptrdiff_t offset;
    std::size_t start;  ///< packed offset within the node
  };
  struct part {
    std::ptrdiff_t offset;
    std::size_t start;
    node_ref child;
  };

  shape form = shape::runs;
  element kind = element::none;  ///< of runs in a tree of leaves; none: plain bytes
  unsigned depth = 1;            ///< levels of the tree from here down
  std::size_t bytes = 0;         ///< packed; never 0
  std::size_t basics = 0;        ///< basic elements (a pair is two); 0 in a tree of plain bytes

  std::vector<run> runs;    ///< one more than there are: the last only carries `start` = bytes
  std::size_t uniform = 0;  ///< runs: the length of each, 0 if they differ

  std::size_t count = 0;  ///< loop
  std::ptrdiff_t stride = 0;
  node_ref child;

  std::vector<part> parts;  ///< sequence

  [[nodiscard]] bool single_run() const noexcept { return form == shape::runs && runs.size() == 2; }
};

[[nodiscard]] bool is_pair(element e) noexcept;
/// Bytes of a pair's second part.
[[nodiscard]] std::size_t index_bytes(element e) noexcept;

/// How far `bytes` packed bytes of adjacent `kind` reach in memory.
[[nodiscard]] std::size_t span_of(element kind, std::size_t bytes) noexcept;

[[nodiscard]] node_ref make_run(element kind, std::ptrdiff_t offset, std::size_t bytes);

/// `count` copies, `stride` bytes apart; simplified where copies join up.
[[nodiscard]] node_ref repeat(const node_ref& child, std::size_t count, std::ptrdiff_t stride);

/// A tree of plain bytes as the tree of leaves it is if all its elements are `kind`, which must
/// have no padding.
[[nodiscard]] node_ref with_kind(const node_ref& plain, element kind);

/// Collects what comes one after the other; joins adjacent runs and recognises regular lists.
class sequence_builder {
 public:
  void add(std::ptrdiff_t offset, const node_ref& child);
  void add_run(element kind, std::ptrdiff_t offset, std::size_t bytes);
  /// Ends the collection. Null if nothing was added.
  [[nodiscard]] node_ref finish();

 private:
  void flush();

  std::vector<node::part> parts_;
  std::size_t parts_bytes_ = 0;
  std::vector<node::run> pending_;  ///< runs of pending_kind_, not yet a part
  std::size_t pending_bytes_ = 0;
  element pending_kind_ = element::none;
};

/// For the functions of this module that read a type's trees.
struct reader {
  [[nodiscard]] static const node* runs(const datatype& t) noexcept { return t.runs_.get(); }
  /// The tree of leaves, or null if the runs, taken as elements of base(), say the same.
  [[nodiscard]] static const node* leaves(const datatype& t) noexcept { return t.leaves_.get(); }
};

}  // namespace sinew::layout
