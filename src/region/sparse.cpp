// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/region/sparse.hpp"

#include <string>

#include "sinew/base/check.hpp"

namespace sinew::region {
namespace detail {

side part_of(const side& whole, const rectangle& r, std::size_t axes) {
  SINEW_EXPECT(axes <= most_axes && !r.empty(axes));
  side part = whole;
  part.where.axes = axes;
  for (std::size_t a = 0; a < axes; ++a) {
    part.where.axis[a] = {static_cast<std::int64_t>(r.low[a]), r.high[a] - r.low[a], 1};
  }
  return part;
}

void check_over(const system& all, const side& whole, const index_space& over, const char* what) {
  SINEW_CHECK(whole.where.axes == 0 && !whole.index.exists(), what,
              "a side has a section or indices, and an index space says which elements",
              "name the whole field");
  const shape elements = all.shape_of(whole.what);
  SINEW_CHECK(elements.axes() == over.axes(), what,
              "its index space has " + std::to_string(over.axes()) + " axes and an instance " +
                  std::to_string(elements.axes()),
              "");
  const rectangle bounds = over.bounds();
  for (std::size_t a = 0; a < over.axes(); ++a) {
    SINEW_CHECK(bounds.high[a] <= elements.extent(a), what,
                "its index space reaches to " + std::to_string(bounds.high[a]) + " in axis " +
                    std::to_string(a) + ", and an instance has " +
                    std::to_string(elements.extent(a)) + " elements there",
                "intersect it with the instance's shape");
  }
}

event all_of(system& all, const std::vector<event>& ends, event* ended) {
  if (ended != nullptr) {
    *ended = all.events().settled(ends);
  }
  return all.events().merge(ends);
}

}  // namespace detail

event copy(system& all, const side& from, const side& to, const index_space& over, event after,
           event* ended) {
  detail::check_over(all, from, over, "a copy cannot be made");
  detail::check_over(all, to, over, "a copy cannot be made");
  std::vector<event> ends = detail::first_ends(over, after);
  for (const rectangle& r : over.rectangles()) {
    ends.push_back(all.copy(detail::part_of(from, r, over.axes()),
                            detail::part_of(to, r, over.axes()), after));
  }
  return detail::all_of(all, ends, ended);
}

}  // namespace sinew::region
