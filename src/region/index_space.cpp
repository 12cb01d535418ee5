// SPDX-License-Identifier: BSD-3-Clause
// Sets as bands: along its first axis a set is cut where its cross-section changes, and each
// cross-section, a set of one axis less, is cut likewise. Bands that touch differ, and none is
// empty, so that there is one form for each set; and two sets are combined band by band.
#include "sinew/region/index_space.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::region {
namespace {

using list = std::vector<rectangle>;
using view = std::span<const rectangle>;

enum class operation : std::uint8_t { either, both, first_only };

bool keeps(operation what, bool in_a, bool in_b) noexcept {
  return what == operation::either ? in_a || in_b
         : what == operation::both ? in_a && in_b
                                   : in_a && !in_b;
}

/// The bands of a set along an axis, one after another.
class bands {
 public:
  bands(view of, std::size_t axis) noexcept : left_(of), axis_(axis) { look(); }
  [[nodiscard]] bool done() const noexcept { return left_.empty(); }
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::uint64_t end() const noexcept { return left_.front().high[axis_]; }
  [[nodiscard]] view section() const noexcept { return left_.first(count_); }
  /// What lies before `position` has been dealt with: not beyond the band's end.
  void forget(std::uint64_t position) noexcept {
    SINEW_EXPECT(!done() && position <= end());
    begin_ = std::max(begin_, position);
    if (position == end()) {
      left_ = left_.subspan(count_);
      look();
    }
  }

 private:
  void look() noexcept {
    if (left_.empty()) {
      return;
    }
    begin_ = left_.front().low[axis_];
    count_ = 1;
    while (count_ < left_.size() && left_[count_].low[axis_] == begin_) {
      ++count_;
    }
  }

  view left_;
  std::size_t axis_;
  std::size_t count_ = 0;
  std::uint64_t begin_ = 0;
};

/// The section of the band along an axis that has this position; empty if there is none. The bands
/// of a set lie in order.
view band_at(view of, std::size_t axis, std::uint64_t position) noexcept {
  const auto end =
      std::upper_bound(of.begin(), of.end(), position,
                       [axis](std::uint64_t p, const rectangle& r) { return p < r.low[axis]; });
  if (end == of.begin() || position >= (end - 1)->high[axis]) {
    return {};
  }
  const auto begin =
      std::lower_bound(of.begin(), end, (end - 1)->low[axis],
                       [axis](const rectangle& r, std::uint64_t low) { return r.low[axis] < low; });
  return {begin, end};
}

bool same_beyond(view a, view b, std::size_t axis) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return std::equal(x.low.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.low.end(),
                      y.low.begin() + static_cast<std::ptrdiff_t>(axis) + 1) &&
           std::equal(x.high.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.high.end(),
                      y.high.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  });
}

/// From `axis` on, of `axes`. The recursion is as deep as there are axes.
// NOLINTNEXTLINE(misc-no-recursion)
list combine(view a, view b, std::size_t axis, std::size_t axes, operation what) {
  list all;
  if (axis == axes) {
    if (keeps(what, !a.empty(), !b.empty())) {
      all.emplace_back();
    }
    return all;
  }
  std::size_t last = 0;  // where the last band begins in `all`
  bands in_a(a, axis);
  bands in_b(b, axis);
  while (!in_a.done() || !in_b.done()) {
    // The next stretch in which neither changes: a band begins at `from`, and one begins or ends
    // at `to`.
    const std::uint64_t from = in_a.done()   ? in_b.begin()
                               : in_b.done() ? in_a.begin()
                                             : std::min(in_a.begin(), in_b.begin());
    std::uint64_t to = slice::all;
    for (const bands* each : {&in_a, &in_b}) {
      if (!each->done()) {
        to = std::min(to, each->begin() == from ? each->end() : each->begin());
      }
    }
    const bool has_a = !in_a.done() && in_a.begin() == from;
    const bool has_b = !in_b.done() && in_b.begin() == from;
    list section = combine(has_a ? in_a.section() : view{}, has_b ? in_b.section() : view{},
                           axis + 1, axes, what);
    if (has_a) {
      in_a.forget(to);
    }
    if (has_b) {
      in_b.forget(to);
    }
    if (section.empty()) {
      continue;
    }
    const view before(all.begin() + static_cast<std::ptrdiff_t>(last), all.end());
    if (!before.empty() && before.front().high[axis] == from &&
        same_beyond(before, section, axis)) {
      for (auto r = all.begin() + static_cast<std::ptrdiff_t>(last); r != all.end(); ++r) {
        r->high[axis] = to;
      }
      continue;
    }
    last = all.size();
    for (rectangle& r : section) {
      r.low[axis] = from;
      r.high[axis] = to;
      all.push_back(r);
    }
  }
  return all;
}

/// Halves first, so that many rectangles are not compared with all the others.
// NOLINTNEXTLINE(misc-no-recursion)
list united(view any, std::size_t axes) {
  if (any.size() > 1) {
    const std::size_t half = any.size() / 2;
    return combine(united(any.first(half), axes), united(any.subspan(half), axes), 0, axes,
                   operation::either);
  }
  list one;
  if (!any.empty() && !any.front().empty(axes)) {
    one.emplace_back();
    std::copy_n(any.front().low.begin(), axes, one.front().low.begin());
    std::copy_n(any.front().high.begin(), axes, one.front().high.begin());
  }
  return one;
}

std::size_t checked(std::size_t axes) {
  SINEW_CHECK(axes >= 1 && axes <= most_axes, "an index space cannot be made",
              "it would have " + std::to_string(axes) + " axes",
              "1 to " + std::to_string(most_axes) + " are possible");
  return axes;
}

void check_alike(const index_space& a, const index_space& b) {
  SINEW_CHECK(
      a.axes() == b.axes(), "two index spaces cannot be combined",
      "one has " + std::to_string(a.axes()) + " axes and the other " + std::to_string(b.axes()),
      "");
}

}  // namespace

index_space::index_space(std::size_t axes) : axes_(checked(axes)) {}

index_space::index_space(const shape& all) : axes_(all.axes()) {
  rectangle r;
  for (std::size_t a = 0; a < axes_; ++a) {
    r.high[a] = all.extent(a);
  }
  if (!r.empty(axes_)) {
    parts_.push_back(r);
  }
}

index_space::index_space(std::size_t axes, std::span<const rectangle> any)
    : axes_(checked(axes)), parts_(united(any, axes)) {}

std::uint64_t index_space::elements() const noexcept {
  std::uint64_t n = 0;
  for (const rectangle& r : parts_) {
    std::uint64_t here = 1;
    for (std::size_t a = 0; a < axes_; ++a) {
      here *= r.high[a] - r.low[a];
    }
    n += here;
  }
  return n;
}

rectangle index_space::bounds() const noexcept {
  rectangle b = parts_.empty() ? rectangle{} : parts_.front();
  for (const rectangle& r : parts_) {
    for (std::size_t a = 0; a < axes_; ++a) {
      b.low[a] = std::min(b.low[a], r.low[a]);
      b.high[a] = std::max(b.high[a], r.high[a]);
    }
  }
  return b;
}

bool index_space::contains(std::span<const std::uint64_t> position) const {
  SINEW_CHECK(position.size() == axes_, "an index space cannot be asked",
              "a position of " + std::to_string(position.size()) + " axes was given, and it has " +
                  std::to_string(axes_),
              "");
  view band = parts_;
  for (std::size_t a = 0; a < axes_ && !band.empty(); ++a) {
    band = band_at(band, a, position[a]);
  }
  return !band.empty();
}

index_space operator|(const index_space& a, const index_space& b) {
  check_alike(a, b);
  return a.of(combine(a.parts_, b.parts_, 0, a.axes_, operation::either));
}
index_space operator&(const index_space& a, const index_space& b) {
  check_alike(a, b);
  return a.of(combine(a.parts_, b.parts_, 0, a.axes_, operation::both));
}
index_space operator-(const index_space& a, const index_space& b) {
  check_alike(a, b);
  return a.of(combine(a.parts_, b.parts_, 0, a.axes_, operation::first_only));
}

}  // namespace sinew::region
