// SPDX-License-Identifier: BSD-3-Clause
// What a region is (elements with typed fields), and where an instance of it puts them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/region/names.hpp"

namespace sinew::region {

inline constexpr std::size_t most_axes = 3;
inline constexpr std::size_t most_fields = 64;

/// How many elements along each axis. The last axis is the fastest: its elements are neighbours in
/// memory. With fewer than most_axes axes, the leading ones have one element.
class shape {
 public:
  shape() = default;
  shape(std::initializer_list<std::uint64_t> counts);  ///< 1 to most_axes; throws sinew::error
  explicit shape(std::uint64_t count) : count_{1, 1, count}, axes_(1) {}

  [[nodiscard]] std::size_t axes() const noexcept { return axes_; }
  [[nodiscard]] std::uint64_t extent(std::size_t axis) const noexcept {
    SINEW_EXPECT(axis < axes_);
    return count_[most_axes - axes_ + axis];
  }
  [[nodiscard]] std::uint64_t elements() const noexcept {
    return count_[0] * count_[1] * count_[2];
  }
  /// All most_axes extents, with ones at the front.
  [[nodiscard]] const std::array<std::uint64_t, most_axes>& padded() const noexcept {
    return count_;
  }
  friend bool operator==(const shape&, const shape&) = default;

 private:
  std::array<std::uint64_t, most_axes> count_{1, 1, 1};
  std::size_t axes_ = 1;
};

/// Some positions along one axis: start, start + step, ...; the step may be negative.
struct slice {
  static constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  std::int64_t start = 0;
  std::uint64_t count = all;  ///< all: as many as the axis has from `start` on
  std::int64_t step = 1;
};

/// A slice for each axis of a shape; none at all: everything.
struct section {
  section() = default;
  section(std::initializer_list<slice> slices);  ///< throws sinew::error beyond most_axes
  std::array<slice, most_axes> axis{};
  std::size_t axes = 0;
};

/// Names a field of a region by its number, and has its type. A value.
template <class T>
struct field {
  std::uint16_t number = 0;
};

struct field_info {
  short_name name;
  short_name type;
  std::uint64_t type_id = 0;
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 1;
};

/// What a region consists of: its elements, and the fields that each of them has. Instances are
/// made from it. A value; cold.
class schema {
 public:
  explicit schema(shape elements) : shape_(elements) {}
  explicit schema(std::uint64_t elements) : shape_(elements) {}

  /// Throws sinew::error beyond most_fields.
  template <class T>
  field<T> add(std::string_view name) {
    static_assert(std::is_trivially_copyable_v<T>, "fields are moved as bytes");
    constexpr std::string_view type = type_name<T>();
    return {append({short_name(name), short_name(type), hash_of(type), sizeof(T), alignof(T)})};
  }
  /// A field like that of another schema. Its number.
  std::uint16_t add(const field_info& like) { return append(like); }
  [[nodiscard]] const shape& elements() const noexcept { return shape_; }
  [[nodiscard]] const std::vector<field_info>& fields() const noexcept { return fields_; }

 private:
  std::uint16_t append(const field_info& f);
  shape shape_;
  std::vector<field_info> fields_;
};

/// Where a field lies: its first element, and bytes from one element to the next along each axis.
/// In a striped instance, the last stride only: from one element of a part to the next.
struct affine {
  std::uint64_t offset = 0;
  std::array<std::int64_t, most_axes> stride{};
};

enum class order : std::uint8_t {
  by_field,    ///< a structure of arrays
  by_element,  ///< an array of structures
  as_given,    ///< layout_options::given
};

struct layout_options {
  order how = order::by_field;
  /// as_given: one for each field, with as many strides as the shape has axes, in its order.
  /// Strides are positive. Fields must not overlap, which is not checked.
  std::vector<affine> given = {};
  /// Elements of a stripe of a striped instance, a power of two. 0: as many as make the parts about
  /// equal.
  std::uint64_t stripe = 0;
};

struct field_place {
  field_info info;
  affine at;  ///< the last axes' strides are at the end, as in shape::padded()
};
static_assert(std::is_trivially_copyable_v<field_place>, "it lies in shared records");

/// Where elements and fields lie; every rank computes the same addresses from it. Elements are
/// numbered row by row, and stripes of 2^shift of them are dealt to the parts in turn.
struct layout {
  shape elements;
  std::uint32_t parts = 1;
  std::uint32_t shift = 63;
  std::uint64_t part_bytes = 0;  ///< of each part
  std::vector<field_place> fields;

  /// Throws sinew::error for options that no striped instance can have, with any number of parts.
  static void check_striping(const layout_options& how);
  /// Throws sinew::error for strides that cannot be and sizes that overflow.
  [[nodiscard]] static layout of(const schema& what, const layout_options& how,
                                 std::uint32_t parts = 1);

  [[nodiscard]] std::uint32_t part_of(std::uint64_t element) const noexcept {
    SINEW_EXPECT(parts >= 1 && shift < 64);
    return static_cast<std::uint32_t>((element >> shift) % parts);
  }
  /// Number of an element within its part.
  [[nodiscard]] std::uint64_t within(std::uint64_t element) const noexcept {
    SINEW_EXPECT(parts >= 1 && shift < 64);
    const std::uint64_t stripe = element >> shift;
    return ((stripe / parts) << shift) | (element & ((std::uint64_t{1} << shift) - 1));
  }
  [[nodiscard]] std::uint64_t elements_of(std::uint32_t part) const noexcept;
};

}  // namespace sinew::region
