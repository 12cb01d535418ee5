// SPDX-License-Identifier: BSD-3-Clause
// Whether two descriptions of the same bytes match by the standard.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "sinew/layout/datatype.hpp"

namespace sinew::layout {
namespace {

std::uint32_t all_of(const datatype& t, std::size_t count) {
  return kinds_in(t, count, count * t.size());
}

datatype_ref pair_of(element first, element second, std::ptrdiff_t second_at) {
  const std::array<std::size_t, 2> ones{1, 1};
  const std::array<std::ptrdiff_t, 2> places{0, second_at};
  const std::array<const datatype*, 2> types{&of(first), &of(second)};
  return structure(ones, places, types);
}

TEST(Kinds, DataOfOneKindMatchHoweverTheyAreMade) {
  const auto row = vector(3, 2, 16, of(element::i32));
  const auto two = contiguous(2, of(element::i32));
  EXPECT_NE(all_of(*row, 1), 0U);
  EXPECT_EQ(all_of(*row, 1), all_of(*two, 3));
  EXPECT_EQ(all_of(*row, 1), all_of(of(element::i32), 6));
  EXPECT_NE(all_of(*row, 1), all_of(of(element::f32), 6));
}

TEST(Kinds, OfPlainBytesAndOfNothingNothingIsSaid) {
  EXPECT_EQ(all_of(of(element::byte), 8), 0U);
  EXPECT_EQ(all_of(of(element::f64), 0), 0U);
  EXPECT_EQ(all_of(*pair_of(element::byte, element::f64, 8), 2), 0U);
}

TEST(Kinds, StructuresMatchByTheirElementsInOrder) {
  const auto a = pair_of(element::i32, element::f64, 8);
  const auto packed = pair_of(element::i32, element::f64, 4);
  const auto turned = pair_of(element::f64, element::i32, 8);
  EXPECT_NE(all_of(*a, 2), 0U);
  EXPECT_EQ(all_of(*a, 2), all_of(*packed, 2));
  EXPECT_NE(all_of(*a, 2), all_of(*turned, 2));
  EXPECT_NE(all_of(*a, 2), all_of(of(element::i32), 6));
}

TEST(Kinds, ALongerReceiveMatchesByWhatHasCome) {
  const auto a = pair_of(element::i32, element::f64, 8);
  EXPECT_EQ(kinds_in(*a, 100, 24), all_of(*a, 2));
  EXPECT_EQ(kinds_in(*a, 100, 4), all_of(of(element::i32), 1));
  EXPECT_NE(kinds_in(*a, 100, 24), kinds_in(*a, 100, 36));
}

TEST(Kinds, AreToldByName) {
  EXPECT_EQ(text_of_kinds(all_of(of(element::f64), 1)), "elements f64");
  EXPECT_EQ(text_of_kinds(all_of(*pair_of(element::i32, element::f64, 8), 1)),
            "elements of several kinds");
}

}  // namespace
}  // namespace sinew::layout
