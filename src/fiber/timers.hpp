// SPDX-License-Identifier: BSD-3-Clause
// Fibers of one worker that wake at a time: a heap through nodes on their own stacks.
#pragma once

#include <cstdint>

#include "fiber/pairing_heap.hpp"
#include "sinew/fiber/fiber.hpp"

namespace sinew::fiber {

/// Owner only.
class timers {
 public:
  struct node {
    std::uint64_t deadline_ns = 0;
    fiber* who = nullptr;
    pairing_links<node> links = {};
  };

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  /// Of a heap that is not empty.
  [[nodiscard]] std::uint64_t first_deadline() const noexcept { return heap_.first()->deadline_ns; }
  void add(node& n) noexcept { heap_.add(n); }
  void remove(node& n) noexcept { heap_.remove(n); }
  /// Takes off the first if it is due, else null.
  node* due(std::uint64_t now_ns) noexcept {
    node* n = heap_.first();
    if (n == nullptr || n->deadline_ns > now_ns) {
      return nullptr;
    }
    remove(*n);
    return n;
  }

 private:
  struct earlier {
    bool operator()(const node& a, const node& b) const noexcept {
      return a.deadline_ns < b.deadline_ns;
    }
  };
  pairing_heap<node, earlier> heap_;
};

}  // namespace sinew::fiber
