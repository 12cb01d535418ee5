// Fibers of one worker that wake at a time: a pairing heap through nodes on their own stacks.
#pragma once

#include <cstdint>
#include <utility>

#include "sinew/fiber/fiber.hpp"

namespace sinew::fiber {

/// Nothing allocates. add is O(1), the others O(log n) amortised. Owner only.
class timers {
 public:
  struct node {
    std::uint64_t deadline_ns = 0;
    fiber* who = nullptr;
    node* child = nullptr;
    node* next = nullptr;      ///< sibling
    node* previous = nullptr;  ///< sibling to the left, or the parent of a first child
    bool listed = false;
  };

  [[nodiscard]] bool empty() const noexcept { return root_ == nullptr; }
  /// Of a heap that is not empty.
  [[nodiscard]] std::uint64_t first_deadline() const noexcept { return root_->deadline_ns; }

  void add(node& n) noexcept {
    n.child = n.next = n.previous = nullptr;
    n.listed = true;
    root_ = meld(root_, &n);
  }

  void remove(node& n) noexcept {
    if (!n.listed) {
      return;
    }
    n.listed = false;
    node* children = pairs(n.child);
    if (&n == root_) {
      root_ = children;
      return;
    }
    (n.previous->child == &n ? n.previous->child : n.previous->next) = n.next;
    if (n.next != nullptr) {
      n.next->previous = n.previous;
    }
    root_ = meld(root_, children);
  }

  /// Takes off the first if it is due, else null.
  node* due(std::uint64_t now_ns) noexcept {
    node* n = root_;
    if (n == nullptr || n->deadline_ns > now_ns) {
      return nullptr;
    }
    remove(*n);
    return n;
  }

 private:
  static node* meld(node* a, node* b) noexcept {
    if (a == nullptr || b == nullptr) {
      return a == nullptr ? b : a;
    }
    if (b->deadline_ns < a->deadline_ns) {
      std::swap(a, b);
    }
    b->next = a->child;
    if (b->next != nullptr) {
      b->next->previous = b;
    }
    b->previous = a;
    a->child = b;
    a->next = a->previous = nullptr;
    return a;
  }

  /// Melds a list of siblings: in pairs from left to right, then those from right to left.
  static node* pairs(node* n) noexcept {
    node* stack = nullptr;
    while (n != nullptr) {
      node* second = n->next;
      node* rest = second == nullptr ? nullptr : second->next;
      n->next = nullptr;
      if (second != nullptr) {
        second->next = nullptr;
      }
      node* pair = meld(n, second);
      pair->next = stack;
      stack = pair;
      n = rest;
    }
    node* all = nullptr;
    while (stack != nullptr) {
      node* after = stack->next;
      stack->next = nullptr;
      all = meld(all, stack);
      stack = after;
    }
    return all;
  }

  node* root_ = nullptr;
};

}  // namespace sinew::fiber
