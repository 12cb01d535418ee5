// SPDX-License-Identifier: BSD-3-Clause
// The standard's own representation of data: sizes, the order of bytes, and back again.
#include "sinew/layout/external32.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace sinew::layout {
namespace {

using bytes = std::vector<std::byte>;

bytes encoded(const datatype& t, std::size_t count, const void* packed) {
  bytes out(external_size(t).value() * count);
  to_external(t, count, static_cast<const std::byte*>(packed), out.data());
  return out;
}

bytes of_numbers(std::initializer_list<int> all) {
  bytes out;
  for (const int each : all) {
    out.push_back(static_cast<std::byte>(each));
  }
  return out;
}

TEST(external32, the_highest_byte_comes_first) {
  const std::int32_t n = 0x01020304;
  EXPECT_EQ(encoded(of(element::i32), 1, &n), of_numbers({1, 2, 3, 4}));
  const double one = 1.0;
  EXPECT_EQ(encoded(of(element::f64), 1, &one), of_numbers({0x3f, 0xf0, 0, 0, 0, 0, 0, 0}));
}

TEST(external32, longs_have_four_bytes_and_keep_their_sign) {
  const long all[] = {-2, 3, std::numeric_limits<std::int32_t>::min()};
  const bytes out = encoded(of(element::c_long), 3, all);
  ASSERT_EQ(out.size(), 12U);
  EXPECT_EQ(out[3], std::byte{0xfe});
  long back[3] = {};
  from_external(of(element::c_long), 3, out.data(), reinterpret_cast<std::byte*>(back));
  EXPECT_TRUE(std::equal(std::begin(all), std::end(all), back));
}

TEST(external32, long_doubles_are_quadruples_there) {
  const long double x = -1.5L;
  const bytes out = encoded(of(element::f80), 1, &x);
  ASSERT_EQ(out.size(), 16U);
  EXPECT_EQ((bytes{out.begin(), out.begin() + 3}), of_numbers({0xbf, 0xff, 0x80}));
  long double back = 0;
  from_external(of(element::f80), 1, out.data(), reinterpret_cast<std::byte*>(&back));
  EXPECT_EQ(back, x);
}

/// Long doubles have bytes here that mean nothing.
bool has_padding(element e) {
  return e == element::f80 || e == element::c80 || e == element::pair_f80_i32;
}

TEST(external32, every_element_comes_back) {
  for (int e = 1; e <= static_cast<int>(element::pair_f80_i32); ++e) {
    if (has_padding(static_cast<element>(e))) {
      continue;
    }
    const datatype& t = of(static_cast<element>(e));
    bytes in(t.size(), std::byte{0});  // zero is itself in every representation
    const bytes out = encoded(t, 1, in.data());
    bytes back(t.size(), std::byte{0xff});
    from_external(t, 1, out.data(), back.data());
    EXPECT_EQ(back, in) << name_of(static_cast<element>(e));
  }
}

TEST(external32, whole_elements_of_a_part_are_counted) {
  const datatype_ref t = contiguous(3, of(element::c_long));
  ASSERT_EQ(external_size(*t), 12U);
  EXPECT_EQ(native_bytes_in(*t, 12), 3 * sizeof(long));
  EXPECT_EQ(native_bytes_in(*t, 11), 2 * sizeof(long));
  EXPECT_EQ(native_bytes_in(*t, 3), 0U);
}

}  // namespace
}  // namespace sinew::layout
