// SPDX-License-Identifier: BSD-3-Clause
// Whether a history of concurrent operations could have come from one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sinew::test {

/// Searches for an order that respects real time, gives every answer, and ends with `last`. An
/// Operation has begin, end and answer; a Specification applies one and can be compared by same().
template <class Operation, class Specification>
bool explained(std::vector<Operation>& history, const Specification& now,
               const Specification& last) {
  if (history.empty()) {
    return now.same(last);
  }
  long first_end = history.front().end;
  for (const Operation& o : history) {
    first_end = std::min(first_end, o.end);
  }
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (history[i].begin > first_end) {
      continue;  // somebody ended before it began
    }
    const Operation o = history[i];
    Specification then = now;
    if (then.apply(o) != o.answer) {
      continue;
    }
    history.erase(history.begin() + static_cast<std::ptrdiff_t>(i));
    const bool found = explained(history, then, last);
    history.insert(history.begin() + static_cast<std::ptrdiff_t>(i), o);
    if (found) {
      return true;
    }
  }
  return false;
}

}  // namespace sinew::test
