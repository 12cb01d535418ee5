// SPDX-License-Identifier: BSD-3-Clause
// Operators on elements: the table of what is allowed, and the arithmetic.
#include "sinew/coll/op.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/quadruple.hpp"

namespace sinew::coll {
namespace {

using layout::element;

template <class T>
std::vector<T> apply(op_kind kind, element e, std::vector<T> in, std::vector<T> inout) {
  const op o{.kind = kind};
  EXPECT_TRUE(o.allowed(layout::of(e))) << layout::name_of(e);
  o.apply(in.data(), inout.data(), inout.size(), layout::of(e));
  return inout;
}

bool allowed(op_kind kind, element e) { return op{.kind = kind}.allowed(layout::of(e)); }

constexpr element integers[] = {element::i8,      element::i16,     element::i32,   element::i64,
                                element::u8,      element::u16,     element::u32,   element::u64,
                                element::address, element::offset_, element::count, element::c_char,
                                element::c_long,  element::c_ulong, element::i128};
constexpr element floats[] = {element::f32, element::f64, element::f80, element::bf16};
constexpr element complexes[] = {element::c32, element::c64, element::c80, element::c128};
constexpr element truths[] = {element::boolean,  element::logical1, element::logical2,
                              element::logical4, element::logical8, element::logical16};
constexpr element pairs[] = {element::pair_f32_i32,  element::pair_f64_i32, element::pair_i64_i32,
                             element::pair_i32_i32,  element::pair_i16_i32, element::pair_f80_i32,
                             element::pair_long_i32, element::pair_f32_f32, element::pair_f64_f64};
constexpr op_kind arithmetic[] = {op_kind::sum, op_kind::prod};
constexpr op_kind order[] = {op_kind::min, op_kind::max};
constexpr op_kind logic[] = {op_kind::land, op_kind::lor, op_kind::lxor};
constexpr op_kind bitwise[] = {op_kind::band, op_kind::bor, op_kind::bxor};
constexpr op_kind places[] = {op_kind::minloc, op_kind::maxloc};

template <class Elements>
void expect_class(const Elements& es, bool sums, bool orders, bool logics, bool bits, bool locs) {
  for (const element e : es) {
    SCOPED_TRACE(layout::name_of(e));
    for (const op_kind k : arithmetic) {
      EXPECT_EQ(allowed(k, e), sums);
    }
    for (const op_kind k : order) {
      EXPECT_EQ(allowed(k, e), orders);
    }
    for (const op_kind k : logic) {
      EXPECT_EQ(allowed(k, e), logics);
    }
    for (const op_kind k : bitwise) {
      EXPECT_EQ(allowed(k, e), bits);
    }
    for (const op_kind k : places) {
      EXPECT_EQ(allowed(k, e), locs);
    }
  }
}

TEST(op, is_allowed_where_the_standard_says) {
  expect_class(integers, true, true, true, true, false);
  expect_class(floats, true, true, false, false, false);
  expect_class(complexes, true, false, false, false, false);
  expect_class(truths, false, false, true, false, false);
  expect_class(pairs, false, false, false, false, true);
  expect_class(std::initializer_list<element>{element::byte}, false, false, false, true, false);
  expect_class(std::initializer_list<element>{element::character, element::wide_character}, false,
               false, false, false, false);
}

TEST(op, predefined_ones_take_single_elements_and_users_anything) {
  const auto two = layout::contiguous(2, layout::of(element::i32));
  const auto twin = layout::duplicate(layout::of(element::i32));
  EXPECT_FALSE(op{.kind = op_kind::sum}.allowed(*two));
  EXPECT_TRUE(op{.kind = op_kind::sum}.allowed(*twin));
  EXPECT_TRUE(op{.kind = op_kind::user}.allowed(*two));
}

TEST(op, integers) {
  using v = std::vector<std::int32_t>;
  const v a{5, -3, 0, 7}, b{2, -9, 4, 7};
  EXPECT_EQ(apply(op_kind::sum, element::i32, a, b), (v{7, -12, 4, 14}));
  EXPECT_EQ(apply(op_kind::prod, element::i32, a, b), (v{10, 27, 0, 49}));
  EXPECT_EQ(apply(op_kind::min, element::i32, a, b), (v{2, -9, 0, 7}));
  EXPECT_EQ(apply(op_kind::max, element::i32, a, b), (v{5, -3, 4, 7}));
  EXPECT_EQ(apply(op_kind::land, element::i32, a, b), (v{1, 1, 0, 1}));
  EXPECT_EQ(apply(op_kind::lor, element::i32, a, b), (v{1, 1, 1, 1}));
  EXPECT_EQ(apply(op_kind::lxor, element::i32, a, b), (v{0, 0, 1, 0}));
  EXPECT_EQ(apply(op_kind::band, element::i32, a, b), (v{5 & 2, -3 & -9, 0, 7}));
  EXPECT_EQ(apply(op_kind::bor, element::i32, a, b), (v{7, -3 | -9, 4, 7}));
  EXPECT_EQ(apply(op_kind::bxor, element::i32, a, b), (v{7, -3 ^ -9, 4, 0}));
}

TEST(op, overflow_wraps) {
  constexpr auto top = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(apply<std::int64_t>(op_kind::sum, element::i64, {top}, {1}).front(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(apply<std::int16_t>(op_kind::prod, element::i16, {-32768}, {-1}).front(), -32768);
  EXPECT_EQ(apply<std::uint16_t>(op_kind::prod, element::u16, {65535}, {65535}).front(), 1);
  EXPECT_EQ(apply<char>(op_kind::sum, element::c_char, {char(127)}, {char(1)}).front(), char(128));
  EXPECT_EQ(apply<std::int8_t>(op_kind::sum, element::i8, {127}, {1}).front(), -128);
}

TEST(op, floating_point_of_every_width) {
  EXPECT_EQ(apply<double>(op_kind::sum, element::f64, {1.5}, {2.25}).front(), 3.75);
  EXPECT_EQ(apply<float>(op_kind::max, element::f32, {-1.5F}, {-2.5F}).front(), -1.5F);
  EXPECT_EQ(apply<long double>(op_kind::prod, element::f80, {3}, {5}).front(), 15);
  // 1 + 1 = 2 in 16 bits; 1.5 + 2.5 = 4 in bfloat16; 256 + 1 is between two values and goes to the
  // even one.
  EXPECT_EQ(apply<std::uint16_t>(op_kind::sum, element::bf16, {0x3fc0}, {0x4020}).front(), 0x4080);
  EXPECT_EQ(apply<std::uint16_t>(op_kind::sum, element::bf16, {0x4380}, {0x3f80}).front(), 0x4380);
  EXPECT_EQ(apply<std::uint16_t>(op_kind::sum, element::f16, {0x3c00}, {0x3c00}).front(), 0x4000);
  EXPECT_EQ(apply<quadruple>(op_kind::prod, element::f128, {1.5}, {3}).front(), quadruple{4.5});
}

TEST(op, complex_products) {
  struct c {
    double re, im;
  };
  const auto r = apply<c>(op_kind::prod, element::c64, {{1, 2}}, {{3, -4}}).front();
  EXPECT_EQ(r.re, 11);
  EXPECT_EQ(r.im, 2);
}

TEST(op, truth_is_anything_but_zero) {
  using v = std::vector<std::uint32_t>;
  EXPECT_EQ(apply<std::uint32_t>(op_kind::land, element::logical4, {2, ~0U, 0}, {4, 1, 1}),
            (v{1, 1, 0}));
  EXPECT_EQ(apply<std::uint32_t>(op_kind::lxor, element::logical4, {2, ~0U, 0}, {4, 0, 0}),
            (v{0, 1, 0}));
}

template <class T, class Index = std::int32_t>
void expect_places(element e) {
  struct pair {
    T value;
    Index index;
  };
  const std::vector<pair> a{{3, 0}, {5, 9}, {7, 1}, {4, 8}}, b{{4, 2}, {5, 3}, {6, 2}, {4, 9}};
  const auto low = apply(op_kind::minloc, e, a, b);
  const auto high = apply(op_kind::maxloc, e, a, b);
  const int low_index[] = {0, 3, 2, 8}, high_index[] = {2, 3, 1, 8};
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(low[i].value, std::min(a[i].value, b[i].value));
    EXPECT_EQ(high[i].value, std::max(a[i].value, b[i].value));
    EXPECT_EQ(low[i].index, low_index[i]);
    EXPECT_EQ(high[i].index, high_index[i]);
  }
}

TEST(op, places_of_extremes_lowest_index_on_ties) {
  expect_places<float>(element::pair_f32_i32);
  expect_places<double>(element::pair_f64_i32);
  expect_places<std::int64_t>(element::pair_i64_i32);
  expect_places<std::int32_t>(element::pair_i32_i32);
  expect_places<std::int16_t>(element::pair_i16_i32);
  expect_places<long double>(element::pair_f80_i32);
  expect_places<long>(element::pair_long_i32);
  expect_places<float, float>(element::pair_f32_f32);
  expect_places<double, double>(element::pair_f64_f64);
}

TEST(op, walks_types_with_gaps) {
  const auto t = layout::vector(2, 1, 8, layout::of(element::i32));
  std::vector<std::int32_t> a{1, 2, 3, 4, 5, 6}, b{10, 20, 30, 40, 50, 60};
  op{.kind = op_kind::sum}.apply(a.data(), b.data(), 2, *t);
  EXPECT_EQ(b, (std::vector<std::int32_t>{11, 20, 33, 44, 50, 66}));
}

TEST(op, replace_and_no_op) {
  std::vector<std::int32_t> a{1, 2}, b{10, 20};
  op{.kind = op_kind::no_op}.apply(a.data(), b.data(), 2, layout::of(element::i32));
  EXPECT_EQ(b, (std::vector<std::int32_t>{10, 20}));
  op{.kind = op_kind::replace}.apply(a.data(), b.data(), 2, layout::of(element::i32));
  EXPECT_EQ(b, a);
}

}  // namespace
}  // namespace sinew::coll
