// SPDX-License-Identifier: BSD-3-Clause
#include "region/walker.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "sinew/base/check.hpp"

namespace sinew::region {
namespace {

slice resolve(const slice& s, std::uint64_t extent, const std::string& what) {
  slice r = s;
  const auto size = static_cast<std::int64_t>(extent);
  const auto refuse = [&](std::int64_t place) {
    SINEW_CHECK(false, what,
                "it begins at " + std::to_string(s.start) + " with step " + std::to_string(s.step) +
                    " and reaches " + std::to_string(place) + ", but the instance has " +
                    std::to_string(extent) + " elements there",
                "");
  };
  SINEW_CHECK(s.step != 0, what, "its step is 0", "");
  if (s.count == slice::all) {
    if (s.start < 0 || s.start > size) {
      refuse(s.start);
    }
    const std::int64_t span = s.step > 0 ? size - s.start : s.start + (s.start < size ? 1 : 0);
    const std::int64_t step = s.step > 0 ? s.step : -s.step;
    r.count = static_cast<std::uint64_t>((span + step - 1) / step);
    SINEW_ENSURE(r.count <= extent);
    return r;
  }
  if (s.count != 0) {
    const auto last = static_cast<__int128_t>(s.start) +
                      static_cast<__int128_t>(s.count - 1) * static_cast<__int128_t>(s.step);
    if (s.start < 0 || s.start >= size) {
      refuse(s.start);
    }
    if (last < 0 || last >= size) {
      refuse(static_cast<std::int64_t>(
          std::clamp<__int128_t>(last, std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max())));
    }
  }
  return r;
}

template <std::size_t Bytes>
void copy_steps(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                std::uint64_t count) noexcept {
  for (; count != 0; --count, to += to_step, from += from_step) {
    std::memcpy(to, from, Bytes);
  }
}

}  // namespace

box resolve(const shape& whole, const section& s, const char* what) {
  box b;
  b.fill({0, 1, 1});
  const std::size_t axes = whole.axes();
  SINEW_CHECK(s.axes == 0 || s.axes == axes, what,
              "the section has " + std::to_string(s.axes) + " axes and the instance " +
                  std::to_string(axes),
              "give a slice for each axis, or none for everything");
  for (std::size_t axis = 0; axis < axes; ++axis) {
    b[most_axes - axes + axis] =
        resolve(s.axis[axis], whole.extent(axis),
                std::string(what) + " outside of axis " + std::to_string(axis));
  }
  SINEW_ENSURE(
      std::all_of(b.begin(), b.end(), [](const slice& a) { return a.count != slice::all; }));
  return b;
}

std::uint64_t elements_of(const box& b) noexcept { return b[0].count * b[1].count * b[2].count; }

walker::walker(const layout& where, std::uint16_t field, const box& which)
    : layout_(where), field_(where.fields[field].at), left_(elements_of(which)) {
  SINEW_EXPECT(field < where.fields.size() && where.parts >= 1);
  std::array<std::int64_t, most_axes> unit = field_.stride;
  base_ = static_cast<std::int64_t>(field_.offset);
  if (where.parts > 1) {
    const auto& n = where.elements.padded();
    unit = {static_cast<std::int64_t>(n[1] * n[2]), static_cast<std::int64_t>(n[2]), 1};
    base_ = 0;
  }
  std::size_t filled = most_axes;
  for (std::size_t axis = most_axes; axis-- > 0;) {
    base_ += which[axis].start * unit[axis];
    if (which[axis].count == 1) {
      continue;
    }
    const loop l{which[axis].count, which[axis].step * unit[axis], 0};
    if (filled < most_axes &&
        l.step == loops_[filled].step * static_cast<std::int64_t>(loops_[filled].count)) {
      loops_[filled].count *= l.count;  // goes on where the inner one ends
    } else {
      loops_[--filled] = l;
    }
  }
  if (filled == most_axes) {  // one element
    loops_.back() = {1, unit.back(), 0};
  }
}

walker::walker(const layout& where, std::uint16_t field, std::span<const std::int64_t> elements)
    : layout_(where),
      field_(where.fields[field].at),
      list_(elements),
      listed_(true),
      left_(elements.size()) {
  SINEW_EXPECT(field < where.fields.size());
  SINEW_EXPECT(std::all_of(elements.begin(), elements.end(), [&where](std::int64_t e) {
    return e >= 0 && static_cast<std::uint64_t>(e) < where.elements.elements();
  }));
}

run walker::place(std::int64_t at, std::int64_t step, std::uint64_t count) const noexcept {
  if (layout_.parts == 1) {
    return {0, at, step, count};
  }
  SINEW_ASSERT(at >= 0 && static_cast<std::uint64_t>(at) < layout_.elements.elements());
  const auto element = static_cast<std::uint64_t>(at);
  const std::uint64_t size = std::uint64_t{1} << layout_.shift;
  const std::uint64_t inside = element & (size - 1);
  const auto pace = static_cast<std::uint64_t>(step < 0 ? -step : step);
  const std::uint64_t fit =
      step == 0 ? 1 : (step > 0 ? size - inside - 1 : inside) / pace + 1;  // of this stripe
  return {layout_.part_of(element),
          static_cast<std::int64_t>(field_.offset) +
              static_cast<std::int64_t>(layout_.within(element)) * field_.stride[2],
          step * field_.stride[2], std::min(count, fit)};
}

run walker::now() const noexcept {
  SINEW_EXPECT(!done());
  if (!listed_) {
    const loop& inner = loops_[2];
    const std::int64_t at = base_ + static_cast<std::int64_t>(loops_[0].at) * loops_[0].step +
                            static_cast<std::int64_t>(loops_[1].at) * loops_[1].step +
                            static_cast<std::int64_t>(inner.at) * inner.step;
    return place(at, inner.step, inner.count - inner.at);
  }
  const std::int64_t element = list_[next_];
  if (layout_.parts > 1) {
    return place(element, 1, 1);
  }
  const auto& n = layout_.elements.padded();
  const auto number = static_cast<std::uint64_t>(element);
  std::int64_t at = static_cast<std::int64_t>(field_.offset);
  at += static_cast<std::int64_t>(number % n[2]) * field_.stride[2];
  if (layout_.elements.axes() > 1) {
    at += static_cast<std::int64_t>(number / n[2] % n[1]) * field_.stride[1];
    at += static_cast<std::int64_t>(number / n[2] / n[1]) * field_.stride[0];
  }
  return {0, at, field_.stride[2], 1};
}

void walker::skip(std::uint64_t elements) noexcept {
  if (elements == 0) {
    return;  // loops may be empty
  }
  SINEW_EXPECT(elements <= left_);
  left_ -= elements;
  if (listed_) {
    next_ += elements;
    return;
  }
  loops_[2].at += elements;
  for (std::size_t l = 2; l > 0 && loops_[l].at >= loops_[l].count; --l) {
    const std::uint64_t rounds = loops_[l].at / loops_[l].count;
    loops_[l].at %= loops_[l].count;
    loops_[l - 1].at += rounds;
  }
}

void walker::addresses(std::span<const std::uint64_t> bases, std::span<std::uint64_t> to) noexcept {
  SINEW_EXPECT(bases.size() == layout_.parts && to.size() <= left_);
  if (listed_ && layout_.parts == 1 && layout_.elements.axes() == 1) {
    const std::uint64_t first = bases[0] + field_.offset;
    const auto stride = static_cast<std::uint64_t>(field_.stride[2]);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = first + static_cast<std::uint64_t>(list_[next_ + i]) * stride;
    }
    return skip(to.size());
  }
  for (std::size_t i = 0; i < to.size();) {
    const run r = now();
    const std::uint64_t n = std::min<std::uint64_t>(r.count, to.size() - i);
    std::uint64_t at = bases[r.part] + static_cast<std::uint64_t>(r.offset);
    for (const std::size_t end = i + n; i < end; ++i, at += static_cast<std::uint64_t>(r.step)) {
      to[i] = at;
    }
    skip(n);
  }
}

void copy_run(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
              std::uint64_t count, std::size_t bytes) noexcept {
  SINEW_EXPECT(count == 0 || (to != nullptr && from != nullptr && bytes != 0));
  const auto size = static_cast<std::int64_t>(bytes);
  if (to_step == size && from_step == size) {
    std::memcpy(to, from, bytes * count);
    return;
  }
  switch (bytes) {
    case 1:
      return copy_steps<1>(to, to_step, from, from_step, count);
    case 2:
      return copy_steps<2>(to, to_step, from, from_step, count);
    case 4:
      return copy_steps<4>(to, to_step, from, from_step, count);
    case 8:
      return copy_steps<8>(to, to_step, from, from_step, count);
    case 16:
      return copy_steps<16>(to, to_step, from, from_step, count);
    default:
      for (; count != 0; --count, to += to_step, from += from_step) {
        std::memcpy(to, from, bytes);
      }
  }
}

}  // namespace sinew::region
