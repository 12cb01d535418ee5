// SPDX-License-Identifier: BSD-3-Clause
// The type map of MPI-5.0 section 5.1 written out literally: every element with its displacement.
// Slow and right by inspection; what src/layout builds is held to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sinew/layout/datatype.hpp"

namespace sinew::layout::naive {

inline bool is_pair(element e) { return e >= element::pair_f32_i32; }
inline std::size_t index_bytes(element e) { return e == element::pair_f64_f64 ? 8 : 4; }
inline std::size_t value_bytes(element e) {
  return is_pair(e) ? size_of(e) - index_bytes(e) : size_of(e);
}
inline std::size_t index_at(element e) { return std::max(value_bytes(e), index_bytes(e)); }
inline std::size_t reach(element e) {
  return is_pair(e) ? index_at(e) + index_bytes(e) : size_of(e);
}
inline std::size_t alignment(element e) {
  switch (e) {
    case element::c16:
      return 2;
    case element::c32:
    case element::pair_f32_f32:
    case element::pair_f32_i32:
    case element::pair_i32_i32:
    case element::pair_i16_i32:
      return 4;
    case element::c64:
    case element::pair_f64_i32:
    case element::pair_i64_i32:
    case element::pair_long_i32:
    case element::pair_f64_f64:
      return 8;
    case element::c128:
    case element::c80:
    case element::pair_f80_i32:
      return 16;
    default:
      return size_of(e);
  }
}

struct naive_type {
  struct entry {
    std::ptrdiff_t offset;
    element kind;
  };
  std::vector<entry> map;
  std::vector<std::ptrdiff_t> lower_marks;
  std::vector<std::ptrdiff_t> upper_marks;
  std::ptrdiff_t upper = 0;  ///< where the parts end, their padding included

  static naive_type of(element e) {
    naive_type t{{{0, e}}, {}, {}, static_cast<std::ptrdiff_t>(reach(e))};
    t.pad();
    return t;
  }

  std::ptrdiff_t true_lower() const {
    if (map.empty()) {
      return 0;
    }
    return std::min_element(map.begin(), map.end(),
                            [](auto& a, auto& b) { return a.offset < b.offset; })
        ->offset;
  }
  std::ptrdiff_t true_upper() const {
    if (map.empty()) {
      return 0;
    }
    std::ptrdiff_t most = map[0].offset + static_cast<std::ptrdiff_t>(reach(map[0].kind));
    for (auto& e : map) {
      most = std::max(most, e.offset + static_cast<std::ptrdiff_t>(reach(e.kind)));
    }
    return most;
  }
  std::ptrdiff_t lower() const {
    if (lower_marks.empty()) {
      return true_lower();
    }
    return *std::min_element(lower_marks.begin(), lower_marks.end());
  }
  std::ptrdiff_t extent() const {
    if (!upper_marks.empty()) {
      return *std::max_element(upper_marks.begin(), upper_marks.end()) - lower();
    }
    return map.empty() ? 0 : upper - true_lower();
  }
  /// The epsilon of section 5.1.6.
  void pad() {
    std::ptrdiff_t strictest = 1;
    for (auto& e : map) {
      strictest = std::max(strictest, static_cast<std::ptrdiff_t>(alignment(e.kind)));
    }
    while (!map.empty() && (upper - true_lower()) % strictest != 0) {
      ++upper;
    }
  }
  std::size_t size() const {
    std::size_t bytes = 0;
    for (auto& e : map) {
      bytes += size_of(e.kind);
    }
    return bytes;
  }
  element base() const {
    if (map.empty()) {
      return element::none;
    }
    for (auto& e : map) {
      if (e.kind != map[0].kind) {
        return element::none;
      }
    }
    return map[0].kind;
  }

  void append(const naive_type& t, std::ptrdiff_t offset) {
    if (!t.map.empty()) {
      const std::ptrdiff_t end = t.lower() + t.extent() + offset;
      upper = map.empty() ? end : std::max(upper, end);
    }
    for (auto& e : t.map) {
      map.push_back({e.offset + offset, e.kind});
    }
    for (auto m : t.lower_marks) {
      lower_marks.push_back(m + offset);
    }
    for (auto m : t.upper_marks) {
      upper_marks.push_back(m + offset);
    }
  }
  void append_block(const naive_type& t, std::ptrdiff_t offset, std::size_t count) {
    const std::ptrdiff_t step = t.extent();
    for (std::size_t i = 0; i < count; ++i) {
      append(t, offset + static_cast<std::ptrdiff_t>(i) * step);
    }
  }

  /// The offset of each packed byte, in packing order.
  std::vector<std::ptrdiff_t> bytes(std::size_t count) const {
    std::vector<std::ptrdiff_t> all;
    for (std::size_t i = 0; i < count; ++i) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * extent();
      for (auto& e : map) {
        const auto value = static_cast<std::ptrdiff_t>(value_bytes(e.kind));
        for (std::ptrdiff_t b = 0; b < value; ++b) {
          all.push_back(at + e.offset + b);
        }
        if (!is_pair(e.kind)) {
          continue;
        }
        const auto index = static_cast<std::ptrdiff_t>(index_at(e.kind));
        const auto length = static_cast<std::ptrdiff_t>(index_bytes(e.kind));
        for (std::ptrdiff_t b = 0; b < length; ++b) {
          all.push_back(at + e.offset + index + b);
        }
      }
    }
    return all;
  }

  /// Basic elements in the first `limit` packed bytes; what remains of a cut one goes to `left`.
  std::size_t basics_in(std::size_t limit, std::size_t& left) const {
    std::size_t found = 0;
    left = limit;
    for (std::size_t i = 0; !map.empty(); i = (i + 1) % map.size()) {
      const element e = map[i].kind;
      if (left < value_bytes(e)) {
        return found;
      }
      left -= value_bytes(e);
      ++found;
      if (!is_pair(e)) {
        continue;
      }
      if (left < index_bytes(e)) {
        return found;
      }
      left -= index_bytes(e);
      ++found;
    }
    return found;
  }
};

}  // namespace sinew::layout::naive
