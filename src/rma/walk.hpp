// SPDX-License-Identifier: BSD-3-Clause
// A section as nested loops: what can be merged is merged, then one call for each innermost row.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "sinew/base/check.hpp"
#include "sinew/rma/section.hpp"

namespace sinew::rma {

/// The axes of a section, innermost first; the innermost always exists. `element` is the number of
/// bytes that are contiguous on both sides.
struct loops {
  std::size_t element = 0;
  std::size_t depth = 0;  ///< 0: nothing is moved
  std::array<axis, most_axes + 1> axes;

  loops(std::size_t element_bytes, std::span<const axis> given) noexcept : element(element_bytes) {
    SINEW_EXPECT(given.size() <= most_axes);
    static_assert(most_axes + 1 < 32, "a section's axes lie on the stack");
    if (element_bytes == 0) {
      return;
    }
    axes[depth++] = {};
    for (const axis& a : given) {
      if (a.count == 0) {
        depth = 0;
        return;
      }
      add(a);
    }
  }

  [[nodiscard]] std::size_t elements() const noexcept {
    std::size_t n = depth == 0 ? 0 : 1;
    for (std::size_t i = 0; i < depth; ++i) {
      n *= axes[i].count;
    }
    return n;
  }

  /// Calls row(near, far, innermost): displacements in bytes of where a row begins.
  template <class Row>
  void each_row(Row&& row) const {
    if (depth != 0) {
      descend(depth - 1, 0, 0, row);
    }
  }

 private:
  static bool plain(const axis& a) noexcept {
    return a.near_index == nullptr && a.far_index == nullptr;
  }

  void add(const axis& a) noexcept {
    SINEW_EXPECT(a.count != 0 && depth >= 1);
    axis& last = axes[depth - 1];
    if (a.count == 1 && plain(a)) {
      return;
    }
    if (plain(a) && plain(last)) {
      if (last.count == 1) {  // no axis yet
        const auto whole = static_cast<std::ptrdiff_t>(element);
        if (depth == 1 && a.near_stride == whole && a.far_stride == whole) {
          element *= a.count;
        } else {
          last = a;
        }
        return;
      }
      const auto count = static_cast<std::ptrdiff_t>(last.count);
      if (a.near_stride == last.near_stride * count && a.far_stride == last.far_stride * count) {
        last.count *= a.count;
        return;
      }
    }
    if (last.count == 1 && plain(last)) {
      last = a;
    } else {
      SINEW_ASSERT(depth < axes.size());
      axes[depth++] = a;
    }
  }

  template <class Row>
  void descend(std::size_t level, std::ptrdiff_t near, std::ptrdiff_t far, Row& row) const {
    SINEW_EXPECT(level < depth);
    const axis& a = axes[level];
    if (level == 0) {
      row(near, far, a);
      return;
    }
    for (std::size_t i = 0; i < a.count; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i);
      descend(level - 1, near + (a.near_index != nullptr ? a.near_index[i] : at) * a.near_stride,
              far + (a.far_index != nullptr ? a.far_index[i] : at) * a.far_stride, row);
    }
  }
};

/// Calls one(near, far) for each element of a row.
template <class One>
void each_element(const axis& row, std::ptrdiff_t near, std::ptrdiff_t far, One&& one) {
  for (std::size_t i = 0; i < row.count; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    one(near + (row.near_index != nullptr ? row.near_index[i] : at) * row.near_stride,
        far + (row.far_index != nullptr ? row.far_index[i] : at) * row.far_stride);
  }
}

}  // namespace sinew::rma
