// SPDX-License-Identifier: BSD-3-Clause
// A priority queue through links in its nodes: a pairing heap.
#pragma once

#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::fiber {

/// What a node has for it: `pairing_links<Node> links`.
template <class Node>
struct pairing_links {
  Node* child = nullptr;
  Node* next = nullptr;      ///< sibling
  Node* previous = nullptr;  ///< sibling to the left, or the parent of a first child
  bool listed = false;
};

/// Nothing allocates. add is O(1), the others O(log n) amortised. `Before` says whether its first
/// node comes before its second. One caller at a time.
template <class Node, class Before>
class pairing_heap {
 public:
  explicit pairing_heap(Before before = {}) noexcept : before_(before) {}

  [[nodiscard]] bool empty() const noexcept { return root_ == nullptr; }
  /// Null if there is none.
  [[nodiscard]] Node* first() const noexcept { return root_; }

  void add(Node& n) noexcept {
    SINEW_EXPECT(!n.links.listed);
    n.links = {};
    n.links.listed = true;
    root_ = meld(root_, &n);
  }

  /// Nothing happens if it is not there.
  void remove(Node& n) noexcept {
    if (!n.links.listed) {
      return;
    }
    n.links.listed = false;
    Node* children = pairs(n.links.child);
    if (&n == root_) {
      root_ = children;
      return;
    }
    Node* const before = n.links.previous;
    SINEW_ASSERT(before->links.child == &n || before->links.next == &n);
    (before->links.child == &n ? before->links.child : before->links.next) = n.links.next;
    if (n.links.next != nullptr) {
      n.links.next->links.previous = before;
    }
    root_ = meld(root_, children);
  }

 private:
  Node* meld(Node* a, Node* b) noexcept {
    if (a == nullptr || b == nullptr) {
      return a == nullptr ? b : a;
    }
    if (before_(*b, *a)) {
      std::swap(a, b);
    }
    b->links.next = a->links.child;
    if (b->links.next != nullptr) {
      b->links.next->links.previous = b;
    }
    b->links.previous = a;
    a->links.child = b;
    a->links.next = a->links.previous = nullptr;
    return a;
  }

  /// Melds a list of siblings: in pairs from left to right, then those from right to left.
  Node* pairs(Node* n) noexcept {
    Node* stack = nullptr;
    while (n != nullptr) {
      Node* second = n->links.next;
      Node* rest = second == nullptr ? nullptr : second->links.next;
      n->links.next = nullptr;
      if (second != nullptr) {
        second->links.next = nullptr;
      }
      Node* pair = meld(n, second);
      pair->links.next = stack;
      stack = pair;
      n = rest;
    }
    Node* all = nullptr;
    while (stack != nullptr) {
      Node* after = stack->links.next;
      stack->links.next = nullptr;
      all = meld(all, stack);
      stack = after;
    }
    return all;
  }

  [[no_unique_address]] Before before_;
  Node* root_ = nullptr;
};

}  // namespace sinew::fiber
