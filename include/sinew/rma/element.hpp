// SPDX-License-Identifier: BSD-3-Clause
// What accumulate combines, and how.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew::rma {

enum class element : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };
enum class combine : std::uint8_t {
  sum,
  product,
  min,
  max,
  bit_and,  ///< the bit operations: integers only
  bit_or,
  bit_xor,
  replace,
  keep,  ///< changes nothing: an atomic read
};

[[nodiscard]] constexpr std::size_t size_of(element e) noexcept {
  constexpr std::size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  static_assert(sizeof sizes / sizeof *sizes == static_cast<std::size_t>(element::f64) + 1);
  return sizes[static_cast<std::size_t>(e)];
}
static_assert(size_of(element::i16) == 2 && size_of(element::u64) == 8 &&
              size_of(element::f32) == 4 && size_of(element::f64) == 8);

}  // namespace sinew::rma
