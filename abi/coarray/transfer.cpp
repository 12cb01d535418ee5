// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "abi/coarray/job.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::coarray {
namespace {

using axis_list = std::array<rma::axis, most_dimensions>;

std::string shape_of(const side& s) {
  std::string text = "(";
  for (int d = 0; d < s.rank; ++d) {
    text += (d == 0 ? "" : ",") + std::to_string(s.axes[static_cast<std::size_t>(d)].count);
  }
  return text + ")";
}

[[noreturn]] void shapes_differ(const side& a, const side& b) {
  throw error("the shapes differ",
              "this image's is " + shape_of(a) + ", the other image's is " + shape_of(b));
}

/// The axes of both sides together. Dimensions of extent 1 may stand on one side alone.
std::size_t join(axis_list& axes, const side& near, const side& far) {
  SINEW_EXPECT(near.rank <= most_dimensions && far.rank <= most_dimensions);
  std::size_t n = 0;
  const bool repeat = near.rank == 0;
  int d = 0;
  for (int f = 0; f < far.rank; ++f) {
    const side_axis& there = far.axes[static_cast<std::size_t>(f)];
    rma::axis& a = axes[n++];
    a.count = there.count;
    a.far_stride = there.stride;
    a.far_index = there.list;
    if (repeat) {
      continue;
    }
    while (d < near.rank && near.axes[static_cast<std::size_t>(d)].count != there.count &&
           near.axes[static_cast<std::size_t>(d)].count == 1) {
      ++d;
    }
    if (d < near.rank && near.axes[static_cast<std::size_t>(d)].count == there.count) {
      a.near_stride = near.axes[static_cast<std::size_t>(d)].stride;
      a.near_index = near.axes[static_cast<std::size_t>(d)].list;
      ++d;
    } else if (there.count != 1) {
      shapes_differ(near, far);
    }
  }
  for (; !repeat && d < near.rank; ++d) {
    if (near.axes[static_cast<std::size_t>(d)].count != 1) {
      shapes_differ(near, far);
    }
  }
  SINEW_ENSURE(n == static_cast<std::size_t>(far.rank));
  return n;
}

/// A copy of `like`'s elements one after the other, of another type.
class buffer {
 public:
  buffer(const side& like, const element& what) {
    side_.what = what;
    std::size_t n = 1;
    for (int d = 0; d < like.rank; ++d) {
      const std::size_t count = like.axes[static_cast<std::size_t>(d)].count;
      side_.add(count, static_cast<std::ptrdiff_t>(n * what.bytes));
      n *= count;
    }
    memory_ = std::make_unique_for_overwrite<std::byte[]>(n * what.bytes + 1);
    side_.base = memory_.get();
  }
  [[nodiscard]] near_side& elements() noexcept { return side_; }

 private:
  near_side side_;
  std::unique_ptr<std::byte[]> memory_;
};

/// Between two near sides of one shape, or from a single element.
void convert(const near_side& to, const near_side& from) {
  axis_list axes;
  const std::size_t depth = join(axes, from, to);
  SINEW_ASSERT(depth <= axes.size());
  const conversion one(to.what, from.what);
  std::array<std::size_t, most_dimensions> at{};
  if (to.elements() == 0) {
    return;
  }
  for (;;) {
    std::byte* target = to.base;
    const std::byte* source = from.base;
    for (std::size_t d = 0; d < depth; ++d) {
      const auto i = static_cast<std::ptrdiff_t>(at[d]);
      target += i * axes[d].far_stride;
      source += i * axes[d].near_stride;
    }
    const rma::axis inner = depth == 0 ? rma::axis{} : axes[0];
    for (std::size_t i = 0; i < inner.count; ++i) {
      one(target, source);
      target += inner.far_stride;
      source += inner.near_stride;
    }
    std::size_t d = 1;
    while (d < depth && ++at[d] == axes[d].count) {
      at[d++] = 0;
    }
    if (d >= depth) {
      return;
    }
  }
}

void put_raw(const far_side& to, const near_side& from) {
  SINEW_EXPECT(to.image_rank.below(this_job.size));
  SINEW_EXPECT(to.what.bytes == from.what.bytes);
  axis_list axes;
  const std::span<const rma::axis> both(axes.data(), join(axes, from, to));
  if (to.offset != 0) {
    this_job.engine->put_section(rma::place{to.image_rank, to.offset}, from.base, to.what.bytes,
                                 both);
  } else {
    this_job.engine->put_section(rma::outside::of(to.image_rank, to.address), from.base,
                                 to.what.bytes, both);
  }
}

void get_raw(const near_side& to, const far_side& from) {
  SINEW_EXPECT(from.image_rank.below(this_job.size));
  SINEW_EXPECT(to.what.bytes == from.what.bytes);
  axis_list axes;
  const std::span<const rma::axis> both(axes.data(), join(axes, to, from));
  if (from.offset != 0) {
    this_job.engine->get_section(to.base, rma::place{from.image_rank, from.offset}, from.what.bytes,
                                 both);
  } else if (both.empty()) {
    // Within a segment no other image may change it, and every image control statement fences.
    this_job.engine->get_ahead(to.base, rma::outside::of(from.image_rank, from.address),
                               from.what.bytes);
  } else {
    this_job.engine->get_section(to.base, rma::outside::of(from.image_rank, from.address),
                                 from.what.bytes, both);
  }
}

template <class Value>
void widen(std::int64_t* to, const void* values, std::size_t count, std::int64_t lower) noexcept {
  const auto* from = static_cast<const Value*>(values);
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<std::int64_t>(from[i]) - lower;
  }
}

}  // namespace

std::size_t side::elements() const noexcept {
  std::size_t n = 1;
  for (int d = 0; d < rank; ++d) {
    n *= axes[static_cast<std::size_t>(d)].count;
  }
  return n;
}

side::span side::extent(int first) const noexcept {
  span s;
  for (int d = first; d < rank; ++d) {
    const side_axis& a = axes[static_cast<std::size_t>(d)];
    std::ptrdiff_t one = 0;
    SINEW_ASSERT(a.count != 0);
    std::ptrdiff_t other = static_cast<std::ptrdiff_t>(a.count - 1) * a.stride;
    if (a.list != nullptr) {
      const auto [least, most] = std::minmax_element(a.list, a.list + a.count);
      one = static_cast<std::ptrdiff_t>(*least) * a.stride;
      other = static_cast<std::ptrdiff_t>(*most) * a.stride;
    }
    s.low += std::min(one, other);
    s.high += std::max(one, other);
  }
  SINEW_ENSURE(s.low <= s.high);
  return s;
}

void check_subscripts(index first, index last, index lower, index upper, int dimension) {
  SINEW_EXPECT(dimension >= 1 && dimension <= most_dimensions);
  const index wrong = first < lower || first > upper ? first : last;
  if (wrong < lower || wrong > upper) {
    throw error(
        "subscript " + std::to_string(wrong) + " of dimension " + std::to_string(dimension) +
            " is out of bounds",
        "the other image's array has " + std::to_string(lower) + ":" + std::to_string(upper));
  }
}

void subscripts_outside(side::span s, std::size_t bytes, std::size_t size) {
  const auto unit = static_cast<std::ptrdiff_t>(bytes);
  const bool whole = unit != 0 && s.low % unit == 0 && size % bytes == 0;
  const std::ptrdiff_t divisor = whole ? unit : 1;
  const std::ptrdiff_t first = s.low / divisor + 1;
  const std::ptrdiff_t last = (s.high + (whole ? 0 : unit - 1)) / divisor + 1;
  const std::string word = whole ? "element" : "byte";
  throw error("a subscript is out of bounds",
              "what is named is " + word + (first == last ? " " : "s ") + std::to_string(first) +
                  (first == last ? "" : " to " + std::to_string(last)) + " of an array of " +
                  std::to_string(static_cast<std::ptrdiff_t>(size) / divisor) + ' ' + word + 's',
              "compare the subscripts with the bounds. If they are right, gfortran has passed a "
              "wrong address, as 12 to 14 do for some vector subscripts inside expressions: assign "
              "the other image's elements to a variable, without other operands");
}

void side::add_list(const void* values, int kind, std::size_t count, std::int64_t lower,
                    std::ptrdiff_t stride) {
  lists.push_back(std::make_unique_for_overwrite<std::int64_t[]>(count));
  std::int64_t* list = lists.back().get();
  switch (kind) {
    case 1:
      widen<std::int8_t>(list, values, count, lower);
      break;
    case 2:
      widen<std::int16_t>(list, values, count, lower);
      break;
    case 4:
      widen<std::int32_t>(list, values, count, lower);
      break;
    case 8:
      widen<std::int64_t>(list, values, count, lower);
      break;
    default:
      throw error("a vector subscript of integer kind " + std::to_string(kind),
                  "kinds 1, 2, 4 and 8 are supported");
  }
  add(count, stride, list);
}

std::ptrdiff_t describe(side& s, const descriptor& d, int kind, const vector_subscript* vector) {
  s.what = {d.element.type, kind, d.element.bytes};
  std::ptrdiff_t begin = 0;
  for (int i = 0; i < d.rank(); ++i) {
    const dimension& dim = d.dim[i];
    const std::ptrdiff_t stride = dim.stride * d.step();
    if (vector == nullptr) {
      s.add(static_cast<std::size_t>(dim.extent()), stride);
    } else if (vector[i].count != 0) {
      s.add_list(vector[i].vector.values, vector[i].vector.kind, vector[i].count, dim.lower,
                 stride);
    } else {
      const auto& t = vector[i].triplet;
      begin += (t.lower - dim.lower) * stride;
      s.add(count_of(t.lower, t.upper, t.stride), stride * t.stride);
    }
  }
  return begin;
}

near_side near(const descriptor& d, int kind) {
  near_side side;
  (void)describe(side, d, kind);
  side.base = static_cast<std::byte*>(d.base);
  return side;
}

std::size_t count_of(index first, index last, index step) noexcept {
  const index n = step == 0 ? 1 : (last - first + step) / step;
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

void put(const far_side& to, const near_side& from, bool buffered) {
  if (same(to.what, from.what) && !(buffered && to.image_rank == this_job.rank)) {
    put_raw(to, from);
    return;
  }
  buffer converted(from, to.what);
  convert(converted.elements(), from);
  put_raw(to, converted.elements());
}

void get(const near_side& to, const far_side& from, bool buffered) {
  if (same(to.what, from.what) && !(buffered && from.image_rank == this_job.rank)) {
    get_raw(to, from);
    return;
  }
  buffer fetched(from, from.what);
  get_raw(fetched.elements(), from);
  convert(to, fetched.elements());
}

void move(const far_side& to, const far_side& from) {
  buffer fetched(from, from.what);
  get_raw(fetched.elements(), from);
  put(to, fetched.elements(), false);
}

}  // namespace sinew::coarray
