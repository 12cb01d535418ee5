// SPDX-License-Identifier: BSD-3-Clause
// Copies, fills and reductions of the elements of an index space only: an operation for each of its
// rectangles, and one event for all.
//
//   const index_space edge = index_space(all) - inner;
//   event e = copy(regions, at(a, f), at(b, f), edge, ready);
//
// Both sides are whole fields (no section, no indices): elements keep their positions. If one
// rectangle's operation fails the event is poisoned at once, and others may still be under way;
// `ended` (may be null) triggers when none is, and is never poisoned. Throws sinew::error, with
// nothing done, where the space does not fit into an instance, and as system's calls do. Warm.
#pragma once

#include <vector>

#include "sinew/region/index_space.hpp"
#include "sinew/region/system.hpp"

namespace sinew::region {

namespace detail {

/// Of a whole field, the part that lies in `r`.
[[nodiscard]] side part_of(const side& whole, const rectangle& r, std::size_t axes);
/// Throws sinew::error, whose text begins with `what`.
void check_over(const system& all, const side& whole, const index_space& over, const char* what);
/// Before any operation: of an empty space the end is what comes before.
[[nodiscard]] inline std::vector<event> first_ends(const index_space& over, event after) {
  return over.empty() ? std::vector<event>{after} : std::vector<event>{};
}
/// What sparse operations return; fills `ended`.
[[nodiscard]] event all_of(system& all, const std::vector<event>& ends, event* ended);

}  // namespace detail

event copy(system& all, const side& from, const side& to, const index_space& over, event after = {},
           event* ended = nullptr);

template <class T>
event fill(system& all, const side& to, const T& value, const index_space& over, event after = {},
           event* ended = nullptr) {
  detail::check_over(all, to, over, "a fill cannot be made");
  std::vector<event> ends = detail::first_ends(over, after);
  for (const rectangle& r : over.rectangles()) {
    ends.push_back(all.fill(detail::part_of(to, r, over.axes()), value, after));
  }
  return detail::all_of(all, ends, ended);
}

template <reduction Op>
event reduce(system& all, const side& from, const side& to, const index_space& over,
             event after = {}, sharing how = sharing::exclusive, event* ended = nullptr) {
  detail::check_over(all, from, over, "a reduction cannot be made");
  detail::check_over(all, to, over, "a reduction cannot be made");
  std::vector<event> ends = detail::first_ends(over, after);
  std::vector<event> settled = ends;
  for (const rectangle& r : over.rectangles()) {
    event one;
    ends.push_back(all.reduce<Op>(detail::part_of(from, r, over.axes()),
                                  detail::part_of(to, r, over.axes()), after, how,
                                  ended == nullptr ? nullptr : &one));
    settled.push_back(one);
  }
  if (ended != nullptr) {
    *ended = all.events().settled(settled);
  }
  return detail::all_of(all, ends, nullptr);
}

}  // namespace sinew::region
