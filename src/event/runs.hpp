// SPDX-License-Identifier: BSD-3-Clause
// How the generations of a slot ended, as runs that ended alike. Only slots of which an event was
// poisoned have any: all others are clean up to their newest generation. (Realm keeps such a list
// of poisoned generations for each event.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sinew/base/check.hpp"

namespace sinew::event {

struct run {
  std::uint32_t from = 0;  ///< generations from..to, both included; from 0: none
  std::uint32_t to = 0;
  bool poisoned = false;

  [[nodiscard]] bool holds(std::uint32_t g) const noexcept { return from <= g && g <= to; }
};

/// Sorted, disjoint; neighbours that touch ended differently.
class runs {
 public:
  [[nodiscard]] const run* find(std::uint32_t g) const noexcept {
    const auto after = std::upper_bound(all_.begin(), all_.end(), g,
                                        [](std::uint32_t x, const run& r) { return x < r.from; });
    return after != all_.begin() && (after - 1)->holds(g) ? &*(after - 1) : nullptr;
  }

  /// Facts do not contradict each other: where `r` overlaps what is known, it says the same.
  void add(run r) {
    SINEW_EXPECT(r.from >= 1 && r.from <= r.to);
    auto at = std::lower_bound(all_.begin(), all_.end(), r, [](const run& a, const run& b) {
      return a.to + 1 < b.from;  // neither overlaps nor touches
    });
    if (at != all_.end() && at->poisoned != r.poisoned && at->to < r.from) {
      ++at;  // touches from below, but ended the other way
    }
    while (at != all_.end() && at->poisoned == r.poisoned && at->from <= r.to + 1) {
      r.from = std::min(r.from, at->from);
      r.to = std::max(r.to, at->to);
      at = all_.erase(at);
    }
    SINEW_ASSERT(at == all_.end() || r.to < at->from);
    SINEW_ASSERT(at == all_.begin() || (at - 1)->to < r.from);
    all_.insert(at, r);
  }

  /// What is known of `g` is forgotten; false if nothing is.
  bool remove(std::uint32_t g) {
    const run* const known = find(g);
    if (known == nullptr) {
      return false;
    }
    const run whole = *known;
    auto at = all_.erase(all_.begin() + (known - all_.data()));
    if (g < whole.to) {
      at = all_.insert(at, {g + 1, whole.to, whole.poisoned});
    }
    if (whole.from < g) {
      all_.insert(at, {whole.from, g - 1, whole.poisoned});
    }
    SINEW_ENSURE(find(g) == nullptr);
    return true;
  }

  /// At the owner, which knows all of 1..newest and lists the poisoned ones only.
  [[nodiscard]] run around(std::uint32_t g, std::uint32_t newest) const noexcept {
    SINEW_EXPECT(g >= 1 && g <= newest);
    run between{1, newest, false};
    for (const run& r : all_) {
      SINEW_ASSERT(r.poisoned && r.to <= newest);
      if (r.holds(g)) {
        return r;
      }
      if (r.to < g) {
        between.from = r.to + 1;
      } else {
        between.to = r.from - 1;
        break;
      }
    }
    SINEW_ENSURE(between.holds(g));
    return between;
  }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  std::vector<run> all_;
};

}  // namespace sinew::event
