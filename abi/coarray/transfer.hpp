// SPDX-License-Identifier: BSD-3-Clause
// Moving elements between this image's memory and another's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "abi/coarray/element.hpp"
#include "abi/coarray/gfortran.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/rma/place.hpp"
#include "sinew/rma/section.hpp"

namespace sinew::coarray {

/// One dimension of a side: `list`, if not null, holds displacements in units of `stride` bytes.
struct side_axis {
  std::size_t count = 1;
  std::ptrdiff_t stride = 0;
  const std::int64_t* list = nullptr;
};

/// Elements in one image's memory. Its index lists it owns itself.
struct side {
  element what;
  int rank = 0;  ///< number of axes
  std::array<side_axis, most_dimensions> axes;
  std::vector<std::unique_ptr<std::int64_t[]>> lists;

  void add(std::size_t count, std::ptrdiff_t stride, const std::int64_t* list = nullptr) noexcept {
    SINEW_EXPECT(rank >= 0 && rank < most_dimensions);
    axes[static_cast<std::size_t>(rank++)] = {count, stride, list};
  }
  /// A vector subscript of `kind` bytes each; `lower` is the subscript of the first element.
  void add_list(const void* values, int kind, std::size_t count, std::int64_t lower,
                std::ptrdiff_t stride);
  [[nodiscard]] std::size_t elements() const noexcept;
  /// Where the elements of the axes from `first` on begin, lowest and highest, counted in bytes
  /// from the first of them. There must be some.
  struct span {
    std::ptrdiff_t low = 0;
    std::ptrdiff_t high = 0;
  };
  [[nodiscard]] span extent(int first = 0) const noexcept;
};

/// Of one dimension with the bounds `lower` and `upper` of an array. Throws sinew::error.
void check_subscripts(index first, index last, index lower, index upper, int dimension);
/// Elements of `bytes` each that begin at `s` from the first byte of what has `size`. Throws
/// sinew::error that says which they are. Hot but for that.
[[noreturn, gnu::cold]] void subscripts_outside(side::span s, std::size_t bytes, std::size_t size);
inline void check_inside(side::span s, std::size_t bytes, std::size_t size) {
  if (s.low < 0 || static_cast<std::size_t>(s.high) > size ||
      bytes > size - static_cast<std::size_t>(s.high)) [[unlikely]] {
    subscripts_outside(s, bytes, size);
  }
}

/// This image's elements.
struct near_side : side {
  std::byte* base = nullptr;
};
/// Another's: in its heap, or, if `offset` is 0, at an address of its process.
struct far_side : side {
  job_rank image_rank = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
};

/// How many values first, first + step, ... do not pass last.
[[nodiscard]] std::size_t count_of(index first, index last, index step) noexcept;

/// The axes of a descriptor, and of its subscripts if `vector` is not null: then the descriptor is
/// that of the declared array, and the result says how many bytes on the section begins.
std::ptrdiff_t describe(side& s, const descriptor& d, int kind,
                        const vector_subscript* vector = nullptr);

[[nodiscard]] near_side near(const descriptor& d, int kind);

/// Element by element; a near side without axes is repeated for all (put only). Shapes must agree.
/// `buffered`: the sides may overlap. Both throw sinew::error.
void put(const far_side& to, const near_side& from, bool buffered);
void get(const near_side& to, const far_side& from, bool buffered);
/// From one image to another.
void move(const far_side& to, const far_side& from);

}  // namespace sinew::coarray
