// SPDX-License-Identifier: BSD-3-Clause
// Sets of elements of a region: unions of rectangles, with their intersections and differences.
// What they are good for: copies, fills and reductions of just these (sparse.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "sinew/region/layout.hpp"

namespace sinew::region {

/// Positions low <= i < high along each axis; nothing if one of them is empty. Of the first axes of
/// these, as many as its space has.
struct rectangle {
  std::array<std::uint64_t, most_axes> low{};
  std::array<std::uint64_t, most_axes> high{};

  [[nodiscard]] bool empty(std::size_t axes = most_axes) const noexcept {
    for (std::size_t a = 0; a < axes; ++a) {
      if (low[a] >= high[a]) {
        return true;
      }
    }
    return false;
  }
  friend bool operator==(const rectangle&, const rectangle&) = default;
};

/// A value. Kept as rectangles that do not overlap, in one way only for each set: so two spaces
/// are equal if they have the same elements. Operations take time in proportion to the rectangles
/// that they read and make. Throws sinew::error for numbers of axes that do not fit.
class index_space {
 public:
  /// Nothing, in so many axes.
  explicit index_space(std::size_t axes = 1);
  /// All elements of a region.
  explicit index_space(const shape& all);
  /// What lies in any of them: they may overlap, and may be empty.
  index_space(std::size_t axes, std::span<const rectangle> any);
  index_space(std::size_t axes, std::initializer_list<rectangle> any)
      : index_space(axes, std::span<const rectangle>(any.begin(), any.size())) {}

  [[nodiscard]] std::size_t axes() const noexcept { return axes_; }
  [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }
  [[nodiscard]] std::uint64_t elements() const noexcept;
  /// They do not overlap; in the order of the elements, row by row.
  [[nodiscard]] const std::vector<rectangle>& rectangles() const noexcept { return parts_; }
  /// The smallest rectangle that contains it; empty if it is.
  [[nodiscard]] rectangle bounds() const noexcept;
  /// In time that grows with the logarithm of the number of rectangles.
  [[nodiscard]] bool contains(std::span<const std::uint64_t> position) const;
  [[nodiscard]] bool contains(std::initializer_list<std::uint64_t> position) const {
    return contains(std::span<const std::uint64_t>(position.begin(), position.size()));
  }
  /// It has all elements of `other`.
  [[nodiscard]] bool covers(const index_space& other) const { return (other - *this).empty(); }

  friend index_space operator|(const index_space& a, const index_space& b);
  friend index_space operator&(const index_space& a, const index_space& b);
  friend index_space operator-(const index_space& a, const index_space& b);
  friend bool operator==(const index_space&, const index_space&) = default;

 private:
  /// A space of the same axes.
  [[nodiscard]] index_space of(std::vector<rectangle> parts) const {
    index_space s(axes_);
    s.parts_ = std::move(parts);
    return s;
  }

  std::size_t axes_;
  std::vector<rectangle> parts_;  ///< in the one form that index_space.cpp describes
};

}  // namespace sinew::region
