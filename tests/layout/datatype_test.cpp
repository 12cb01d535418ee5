// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/layout/datatype.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "sinew/base/error.hpp"

namespace sinew::layout {
namespace {

const datatype& i32 = of(element::i32);
const datatype& f64 = of(element::f64);
const datatype& byte_type = of(element::byte);

std::size_t runs_of(const datatype& t, std::size_t count) {
  std::size_t n = 0;
  for_each_run(t, count, [&](std::ptrdiff_t, std::size_t) { ++n; });
  return n;
}

TEST(element, predefined_sizes_are_those_of_c) {
  struct pair_f80 {
    long double a;
    int b;
  };
  struct row {
    element e;
    std::size_t size, extent;
  };
  for (const row& r :
       {row{element::pair_i16_i32, 6, 8}, row{element::pair_f64_i32, 12, 16},
        row{element::pair_i64_i32, 12, 16}, row{element::pair_long_i32, 12, 16},
        row{element::pair_f32_f32, 8, 8}, row{element::pair_f64_f64, 16, 16},
        row{element::c16, 4, 4}, row{element::c128, 32, 32}, row{element::pair_f32_i32, 8, 8},
        row{element::pair_i32_i32, 8, 8}, row{element::c64, 16, 16},
        row{element::pair_f80_i32, sizeof(long double) + 4, sizeof(pair_f80)}}) {
    EXPECT_EQ(of(r.e).size(), r.size) << name_of(r.e);
    EXPECT_EQ(of(r.e).extent(), static_cast<std::ptrdiff_t>(r.extent)) << name_of(r.e);
    EXPECT_EQ(of(r.e).dense(), r.size == r.extent) << name_of(r.e);
    EXPECT_EQ(of(r.e).base(), r.e);
    EXPECT_EQ(of(r.e).elements(), 1u);
  }
  EXPECT_EQ(of(element::none).size(), 0u);
  EXPECT_EQ(&of(element::i32), &of(element::i32));
}

TEST(element, a_pair_counts_as_two_basic_elements) {
  const datatype& t = of(element::pair_f64_i32);
  std::size_t left = 0;
  EXPECT_EQ(elements_in(t, 12), 2u);
  EXPECT_EQ(elements_in(t, 8), 1u);
  EXPECT_EQ(elements_in(t, 25, &left), 4u);
  EXPECT_EQ(left, 1u);
}

TEST(type, a_struct_is_padded_to_its_strictest_alignment) {
  const std::size_t lengths[] = {1, 1};
  const std::ptrdiff_t places[] = {0, 8};
  const datatype* const types[] = {&f64, &of(element::character)};
  const datatype_ref t = structure(lengths, places, types);
  EXPECT_EQ(t->size(), 9u);
  EXPECT_EQ(t->extent(), 16);
  EXPECT_EQ(t->true_extent(), 9);
  EXPECT_EQ(t->base(), element::none);
  EXPECT_EQ(elements_in(*t, 9 + 8), 3u);
}

TEST(type, only_a_struct_adds_padding_and_padding_of_parts_counts) {
  const datatype_ref rows = vector(3, 4, 25, i32);  // 16 bytes at 0, 25 and 50
  EXPECT_EQ(rows->extent(), 66);
  EXPECT_EQ(contiguous(2, *rows)->extent(), 132);
  const std::size_t lengths[] = {1, 1};
  const std::ptrdiff_t places[] = {0, 8};
  const datatype* const types[] = {&f64, &of(element::character)};
  const datatype_ref padded = structure(lengths, places, types);
  EXPECT_EQ(vector(2, 1, 17, *padded)->extent(), 33);
  EXPECT_EQ(vector(2, 1, 17, *padded)->true_extent(), 26);
  EXPECT_EQ(indexed(lengths, places, *padded)->extent(), 24);
  EXPECT_EQ(vector(2, 1, 33, of(element::pair_f64_i32))->extent(), 49);
  const std::size_t one[] = {1};
  const std::ptrdiff_t start[] = {0};
  const datatype* const inner[] = {rows.get()};
  EXPECT_EQ(structure(one, start, inner)->extent(), 68);
}

TEST(type, resized_bounds_stick_in_what_is_made_of_them) {
  const datatype_ref r = resized(i32, -4, 16);
  const std::size_t lengths[] = {2, 1};
  const std::ptrdiff_t places[] = {0, 100};
  const datatype* const types[] = {r.get(), &f64};
  const datatype_ref t = structure(lengths, places, types);
  EXPECT_EQ(t->lower(), -4);
  EXPECT_EQ(t->extent(), 32);  // the double at 100 does not count: it has no bound of its own
  EXPECT_EQ(t->true_extent(), 108);
}

TEST(type, empty_types_have_no_bounds) {
  const datatype_ref t = contiguous(0, i32);
  EXPECT_EQ(t->size(), 0u);
  EXPECT_EQ(t->extent(), 0);
  EXPECT_EQ(t->base(), element::none);
  std::byte out[8];
  EXPECT_EQ(pack(*t, 1000, nullptr, 0, out), 0u);
  EXPECT_EQ(elements_in(*t, 0), 0u);
  EXPECT_EQ(contiguous(5, *t)->size(), 0u);
  EXPECT_EQ(structure({}, {}, {})->extent(), 0);
}

TEST(type, what_joins_up_is_dense) {
  EXPECT_TRUE(contiguous(1'000'000'000, byte_type)->dense());
  EXPECT_TRUE(vector(1000, 3, 12, i32)->dense());
  EXPECT_TRUE(resized(*contiguous(3, i32), 0, 12)->dense());
  EXPECT_FALSE(resized(i32, 0, 8)->dense());
  EXPECT_FALSE(vector(2, 1, -4, i32)->dense());  // second element first
  const std::size_t lengths[] = {2, 1, 1};
  const std::ptrdiff_t places[] = {0, 8, 12};
  const datatype* const types[] = {&i32, &of(element::f32), &i32};
  const datatype_ref t = structure(lengths, places, types);
  EXPECT_TRUE(t->dense());
  EXPECT_EQ(runs_of(*t, 1000), 1u);
  std::size_t leaves = 0;
  for_each_leaf(*t, 2, [&](std::ptrdiff_t, std::size_t, element) { ++leaves; });
  EXPECT_EQ(leaves, 5u);  // i32 x2, f32, i32 | i32 x2 joined to it, f32, i32
}

TEST(type, sharing_keeps_alive) {
  datatype_ref outer;
  {
    const datatype_ref inner = vector(10, 1, 8, i32);
    outer = contiguous(3, *inner);
    const datatype_ref again = share(*inner);
    EXPECT_EQ(again.get(), inner.get());
  }
  EXPECT_EQ(outer->elements(), 30u);
  const datatype_ref copy = duplicate(*outer);
  outer = {};
  EXPECT_EQ(runs_of(*copy, 1), 28u);  // the last of one and the first of the next instance join
  const datatype_ref predefined = share(i32);
}

TEST(type, overflow_is_an_error) {
  const std::size_t huge = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_THROW((void)contiguous(huge, i32), error);
  EXPECT_THROW((void)contiguous(huge, *contiguous(8, i32)), error);
  EXPECT_THROW((void)vector(8, 1, std::numeric_limits<std::ptrdiff_t>::max() / 4, i32), error);
  EXPECT_THROW((void)resized(i32, std::numeric_limits<std::ptrdiff_t>::max(), 1), error);
  const std::size_t lengths[] = {1, 1};
  const std::ptrdiff_t places[] = {0};
  EXPECT_THROW((void)indexed(lengths, places, i32), error);
  const std::ptrdiff_t far[] = {std::numeric_limits<std::ptrdiff_t>::min(),
                                std::numeric_limits<std::ptrdiff_t>::max() - 64};
  EXPECT_THROW((void)indexed(lengths, far, i32), error);
}

TEST(type, deep_nesting_is_refused_before_it_hurts) {
  datatype_ref t = share(i32);
  try {
    for (int i = 0; i < 100'000; ++i) {
      t = contiguous(1, *t);  // adds no level
    }
    for (int i = 0; i < 100'000; ++i) {
      t = vector(1, 2, 4 * i, *t);
    }
    FAIL() << "no limit";
  } catch (const error& e) {
    SUCCEED() << e.what();
  }
}

// What these hold would be terabytes flat: if building or seeking depended on the counts, there
// would be no end.
TEST(type, loops_cost_nothing_however_long) {
  const datatype_ref row = vector(1'000'000, 1, 64, f64);
  const datatype_ref plane = vector(1'000'000, 1, 100'000'000, *row);
  const datatype_ref mixed = contiguous(1'000, *plane);
  EXPECT_EQ(plane->size(), 8'000'000'000'000u);
  EXPECT_EQ(mixed->elements(), 1'000'000'000'000'000u);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(elements_in(*mixed, 1'000'000'000'007u), 125'000'000'000u);
  }
  // Only the element at one packed place is touched: index 3 of row 0.
  std::vector<double> memory(32);
  memory[24] = 42.0;
  double out = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(pack(*row, 1, memory.data(), 24, std::as_writable_bytes(std::span(&out, 1))), 8u);
  }
  EXPECT_EQ(out, 42.0);
  // And far away: the last element of the first row, from a base moved down by as much.
  const std::ptrdiff_t last = 999'999 * std::ptrdiff_t{64};
  auto* const base = reinterpret_cast<std::byte*>(memory.data()) - last;
  memory[0] = 7.0;
  EXPECT_EQ(pack(*row, 1, base, 7'999'992, std::as_writable_bytes(std::span(&out, 1))), 8u);
  EXPECT_EQ(out, 7.0);
}

TEST(type, regular_lists_become_loops) {
  std::vector<std::size_t> lengths(100'000, 2);
  std::vector<std::ptrdiff_t> places(lengths.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = static_cast<std::ptrdiff_t>(i) * 24;
  }
  const datatype_ref t = indexed(lengths, places, f64);
  const datatype_ref v = vector(100'000, 2, 24, f64);
  EXPECT_EQ(t->size(), v->size());
  EXPECT_EQ(t->extent(), v->extent());
  EXPECT_EQ(runs_of(*t, 1), 100'000u);
}

TEST(copy, between_different_types) {
  std::vector<std::int32_t> from(300'000);
  std::iota(from.begin(), from.end(), 0);
  const datatype_ref every_third = resized(i32, 0, 12);
  std::vector<std::int32_t> dense(100'000);
  copy(*every_third, 100'000, from.data(), i32, 100'000, dense.data());
  EXPECT_EQ(dense[99'999], 299'997);
  std::vector<std::int32_t> spread(200'000, -1);
  copy(*every_third, 100'000, from.data(), *resized(i32, 0, 8), 100'000, spread.data());
  for (std::size_t i = 0; i < 100'000; ++i) {
    ASSERT_EQ(spread[2 * i], static_cast<std::int32_t>(3 * i));
    ASSERT_EQ(spread[2 * i + 1], -1);
  }
}

}  // namespace
}  // namespace sinew::layout
