// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/region/layout.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "sinew/base/check.hpp"

namespace sinew::region {
namespace {

constexpr std::uint64_t line_bytes = 64;

std::uint64_t round_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

std::string at_most(std::size_t n, const char* what) {
  return "there are at most " + std::to_string(n) + " " + what;
}

/// Equal parts where a power of two comes near enough, else eight stripes for each part.
std::uint64_t default_stripe(std::uint64_t elements, std::uint32_t parts) {
  const std::uint64_t share = std::max<std::uint64_t>((elements + parts - 1) / parts, 1);
  const std::uint64_t whole = std::bit_ceil(share);
  return whole - share <= share / 8 ? whole : std::max<std::uint64_t>(std::bit_floor(share / 8), 1);
}

/// Bytes from the part's beginning to behind the field's last element; throws for strides that
/// cannot be. `counts`: elements along each axis of a part.
std::uint64_t end_of(const field_place& f, const std::array<std::uint64_t, most_axes>& counts) {
  const std::string what = "field '" + std::string(f.info.name.view()) + "' cannot lie like this";
  __uint128_t last = f.at.offset;
  for (std::size_t axis = 0; axis < most_axes; ++axis) {
    if (counts[axis] <= 1) {
      continue;
    }
    const std::int64_t stride = f.at.stride[axis];
    SINEW_CHECK(stride >= static_cast<std::int64_t>(f.info.bytes), what,
                "a stride of " + std::to_string(stride) + " bytes puts elements of " +
                    std::to_string(f.info.bytes) + " bytes over each other",
                "give strides of at least the element's size");
    SINEW_CHECK(stride % f.info.alignment == 0 && f.at.offset % f.info.alignment == 0, what,
                "its offset and strides are not multiples of its alignment, " +
                    std::to_string(f.info.alignment),
                "");
    last += static_cast<__uint128_t>(counts[axis] - 1) * static_cast<std::uint64_t>(stride);
  }
  SINEW_CHECK(last + f.info.bytes < (__uint128_t{1} << 62), what, "it needs more than 2^62 bytes",
              "");
  return static_cast<std::uint64_t>(last) + f.info.bytes;
}

void place_by_field(layout& l, const std::array<std::uint64_t, most_axes>& counts) {
  std::uint64_t next = 0;
  for (field_place& f : l.fields) {
    f.at.offset = round_up(next, line_bytes);
    auto stride = static_cast<std::int64_t>(f.info.bytes);
    for (std::size_t axis = most_axes; axis-- > 0;) {
      f.at.stride[axis] = stride;
      stride *= static_cast<std::int64_t>(std::max<std::uint64_t>(counts[axis], 1));
    }
    next = f.at.offset + static_cast<std::uint64_t>(stride);
  }
}

void place_by_element(layout& l, const std::array<std::uint64_t, most_axes>& counts) {
  std::uint64_t next = 0;
  std::uint64_t alignment = 1;
  for (field_place& f : l.fields) {
    f.at.offset = round_up(next, f.info.alignment);
    next = f.at.offset + f.info.bytes;
    alignment = std::max<std::uint64_t>(alignment, f.info.alignment);
  }
  const auto element = static_cast<std::int64_t>(round_up(next, alignment));
  for (field_place& f : l.fields) {
    auto stride = element;
    for (std::size_t axis = most_axes; axis-- > 0;) {
      f.at.stride[axis] = stride;
      stride *= static_cast<std::int64_t>(std::max<std::uint64_t>(counts[axis], 1));
    }
  }
}

void place_as_given(layout& l, const std::vector<affine>& given) {
  SINEW_CHECK(
      given.size() == l.fields.size(), "the layout does not fit the fields",
      std::to_string(given.size()) + " places for " + std::to_string(l.fields.size()) + " fields",
      "give one for each field, in the order in which they were added");
  const std::size_t axes = l.elements.axes();
  for (std::size_t i = 0; i < given.size(); ++i) {
    l.fields[i].at.offset = given[i].offset;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      l.fields[i].at.stride[most_axes - axes + axis] = given[i].stride[axis];
    }
  }
}

}  // namespace

shape::shape(std::initializer_list<std::uint64_t> counts) : axes_(counts.size()) {
  SINEW_CHECK(!std::empty(counts) && counts.size() <= most_axes, "a shape cannot be made",
              at_most(most_axes, "axes, and at least one"), "");
  std::copy(counts.begin(), counts.end(), count_.end() - static_cast<std::ptrdiff_t>(axes_));
  __uint128_t all = 1;
  for (const std::uint64_t n : count_) {
    all *= n;
    SINEW_CHECK(all < (__uint128_t{1} << 60), "a shape cannot be made", "it has 2^60 elements", "");
  }
}

section::section(std::initializer_list<slice> slices) : axes(slices.size()) {
  SINEW_CHECK(slices.size() <= most_axes, "a section cannot be made", at_most(most_axes, "axes"),
              "");
  std::copy(slices.begin(), slices.end(), axis.begin());
}

std::uint16_t schema::append(const field_info& f) {
  SINEW_CHECK(fields_.size() < most_fields,
              "field '" + std::string(f.name.view()) + "' cannot be added",
              at_most(most_fields, "fields"), "make a field of a struct");
  fields_.push_back(f);
  return static_cast<std::uint16_t>(fields_.size() - 1);
}

void layout::check_striping(const layout_options& how) {
  SINEW_CHECK(how.how != order::as_given, "the layout cannot be striped",
              "strides were given, and a striped instance has none of its own", "");
  SINEW_CHECK(how.stripe == 0 || std::has_single_bit(how.stripe), "the layout cannot be striped",
              "a stripe of " + std::to_string(how.stripe) + " elements", "give a power of two");
}

layout layout::of(const schema& what, const layout_options& how, std::uint32_t parts) {
  layout l;
  l.elements = what.elements();
  l.parts = parts;
  for (const field_info& f : what.fields()) {
    l.fields.push_back({f, {}});
  }
  std::array<std::uint64_t, most_axes> counts = l.elements.padded();
  if (parts > 1) {
    check_striping(how);
    const std::uint64_t n = l.elements.elements();
    const std::uint64_t stripe = how.stripe != 0 ? how.stripe : default_stripe(n, parts);
    l.shift = static_cast<std::uint32_t>(std::countr_zero(stripe));
    counts = {1, 1, round_up(round_up(n, stripe) / stripe, parts) / parts * stripe};
  }
  if (how.how == order::as_given) {
    place_as_given(l, how.given);
  } else if (how.how == order::by_element) {
    place_by_element(l, counts);
  } else {
    place_by_field(l, counts);
  }
  for (const field_place& f : l.fields) {
    l.part_bytes = std::max(l.part_bytes, end_of(f, counts));
  }
  return l;
}

std::uint64_t layout::elements_of(std::uint32_t part) const noexcept {
  const std::uint64_t n = elements.elements();
  if (parts == 1) {
    return n;
  }
  const std::uint64_t stripes = n >> shift;  // whole ones
  const std::uint64_t rounds = stripes / parts;
  const std::uint64_t rest = stripes % parts;
  const std::uint64_t whole = rounds + (part < rest ? 1 : 0);
  const std::uint64_t tail = part == rest ? n & ((std::uint64_t{1} << shift) - 1) : 0;
  return (whole << shift) + tail;
}

}  // namespace sinew::region
