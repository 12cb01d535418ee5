// SPDX-License-Identifier: BSD-3-Clause
// Rings of waiters: a list named by its last element, whose `next` is the first. To append one or
// to join two takes one exchange, and a waiter needs no second link.
#pragma once

#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/event/waiter.hpp"

namespace sinew::event::ring {

/// Puts the ring that ends with `more` behind the one that ends with `last` (null: an empty one).
inline void splice(waiter*& last, waiter* more) noexcept {
  SINEW_EXPECT(more != nullptr && more->next != nullptr);
  if (last != nullptr) {
    std::swap(last->next, more->next);
  }
  last = more;
}

/// Appends one waiter, not poisoned so far.
inline void push(waiter*& last, waiter& w) noexcept {
  SINEW_EXPECT(w.fire != nullptr);
  w.poisoned = false;
  w.next = &w;
  splice(last, &w);
}

/// Takes one waiter out; false if it is not there.
[[nodiscard]] inline bool remove(waiter*& last, waiter& w) noexcept {
  if (last == nullptr) {
    return false;
  }
  waiter* before = last;
  while (before->next != &w && before->next != last) {
    before = before->next;
  }
  if (before->next != &w) {
    return false;
  }
  before->next = w.next;
  if (last == &w) {
    last = before == &w ? nullptr : before;
  }
  return true;
}

}  // namespace sinew::event::ring
