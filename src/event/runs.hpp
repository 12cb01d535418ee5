// What became of the generations of a slot, as runs of equal fate. Only slots of which an event was
// poisoned have any: all others are clean up to their newest generation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sinew::event {

struct run {
  std::uint32_t from = 0;  ///< generations from..to, both included; from 0: none
  std::uint32_t to = 0;
  bool poisoned = false;

  [[nodiscard]] bool holds(std::uint32_t g) const noexcept { return from <= g && g <= to; }
};

/// Sorted, disjoint; neighbours that touch differ in fate.
class runs {
 public:
  [[nodiscard]] const run* find(std::uint32_t g) const noexcept {
    const auto after = std::upper_bound(all_.begin(), all_.end(), g,
                                        [](std::uint32_t x, const run& r) { return x < r.from; });
    return after != all_.begin() && (after - 1)->holds(g) ? &*(after - 1) : nullptr;
  }

  /// Facts do not contradict each other: where `r` overlaps what is known, fates are equal.
  void add(run r) {
    auto at = std::lower_bound(all_.begin(), all_.end(), r, [](const run& a, const run& b) {
      return a.to + 1 < b.from;  // neither overlaps nor touches
    });
    if (at != all_.end() && at->poisoned != r.poisoned && at->to < r.from) {
      ++at;  // touches from below, but is of the other fate
    }
    while (at != all_.end() && at->poisoned == r.poisoned && at->from <= r.to + 1) {
      r.from = std::min(r.from, at->from);
      r.to = std::max(r.to, at->to);
      at = all_.erase(at);
    }
    all_.insert(at, r);
  }

  /// At the owner, which knows all of 1..newest and lists the poisoned ones only.
  [[nodiscard]] run around(std::uint32_t g, std::uint32_t newest) const noexcept {
    run between{1, newest, false};
    for (const run& r : all_) {
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
    return between;
  }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  std::vector<run> all_;
};

}  // namespace sinew::event
