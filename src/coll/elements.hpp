// SPDX-License-Identifier: BSD-3-Clause
// The C++ types behind layout::element, and what may be done with them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sinew/base/quadruple.hpp"
#include "sinew/layout/datatype.hpp"

namespace sinew::coll::elements {

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;
#if defined(__aarch64__)  // where gcc 12 knows no _Float16 in C++
typedef __fp16 f16;
#else
__extension__ typedef _Float16 f16;
#endif

/// bfloat16 is the upper half of a float; arithmetic is done in float and rounded to even.
struct bf16 {
  std::uint16_t bits;

  static bf16 of(float f) noexcept {
    const auto u = std::bit_cast<std::uint32_t>(f);
    if (f != f) {
      return {static_cast<std::uint16_t>((u >> 16) | 0x40U)};  // a NaN stays one
    }
    return {static_cast<std::uint16_t>((u + 0x7fffU + ((u >> 16) & 1U)) >> 16)};
  }
  [[nodiscard]] float value() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  friend bf16 operator+(bf16 a, bf16 b) noexcept { return of(a.value() + b.value()); }
  friend bf16 operator*(bf16 a, bf16 b) noexcept { return of(a.value() * b.value()); }
  friend bool operator<(bf16 a, bf16 b) noexcept { return a.value() < b.value(); }
};
static_assert(sizeof(bf16) == 2);

/// Laid out as C's complex. The product is the textbook's: no care for infinities, so it
/// vectorises.
template <class T>
struct complex {
  T re, im;
  // Narrow parts are computed in a wider type.
  friend complex operator+(complex a, complex b) noexcept {
    return {static_cast<T>(a.re + b.re), static_cast<T>(a.im + b.im)};
  }
  friend complex operator*(complex a, complex b) noexcept {
    return {static_cast<T>(a.re * b.re - a.im * b.im), static_cast<T>(a.re * b.im + a.im * b.re)};
  }
};

static_assert(sizeof(complex<float>) == 8 && sizeof(complex<double>) == 16);

/// A value and where it was found.
template <class T, class Index = std::int32_t>
struct pair {
  T value;
  Index index;
};
static_assert(sizeof(pair<double>) == 16 && sizeof(pair<float>) == 8);  // as C's structures

/// A Fortran LOGICAL or C bool of this width: anything but zero is true.
template <class T>
struct truth {
  T bits;
};

/// Only for bitwise operators.
struct raw {
  unsigned char bits;
};

/// Without GNU's extensions std::is_integral does not know the widest one.
template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> || std::is_same_v<T, i128>;
template <class T>
struct unsigned_of : std::make_unsigned<T> {};
template <>
struct unsigned_of<i128> {
  using type = u128;
};

template <class T>
struct kind_of {
  static constexpr bool integer = is_integer<T>;
  static constexpr bool truth = false, complex = false, pair = false, raw = false;
};
template <class T>
struct kind_of<truth<T>> {
  static constexpr bool integer = false, truth = true, complex = false, pair = false, raw = false;
};
template <class T>
struct kind_of<complex<T>> {
  static constexpr bool integer = false, truth = false, complex = true, pair = false, raw = false;
};
template <class T, class Index>
struct kind_of<pair<T, Index>> {
  static constexpr bool integer = false, truth = false, complex = false, pair = true, raw = false;
};
template <>
struct kind_of<raw> {
  static constexpr bool integer = false, truth = false, complex = false, pair = false, raw = true;
};

/// The part of visit() for truth values, and for values with their index.
template <class Visit, class R>
R visit_truth_or_pair(layout::element e, const Visit& call, R otherwise) {
  using layout::element;
  using std::type_identity;
  switch (e) {
    case element::boolean:
    case element::logical1:
      return call(type_identity<truth<std::uint8_t>>{});
    case element::logical2:
      return call(type_identity<truth<std::uint16_t>>{});
    case element::logical4:
      return call(type_identity<truth<std::uint32_t>>{});
    case element::logical8:
      return call(type_identity<truth<std::uint64_t>>{});
    case element::logical16:
      return call(type_identity<truth<u128>>{});
    case element::pair_f32_i32:
      return call(type_identity<pair<float>>{});
    case element::pair_f64_i32:
      return call(type_identity<pair<double>>{});
    case element::pair_i64_i32:
      return call(type_identity<pair<std::int64_t>>{});
    case element::pair_i32_i32:
      return call(type_identity<pair<std::int32_t>>{});
    case element::pair_i16_i32:
      return call(type_identity<pair<std::int16_t>>{});
    case element::pair_long_i32:
      return call(type_identity<pair<long>>{});
    case element::pair_f32_f32:
      return call(type_identity<pair<float, float>>{});
    case element::pair_f64_f64:
      return call(type_identity<pair<double, double>>{});
    case element::pair_f80_i32:
      return call(type_identity<pair<long double>>{});
    default:
      return otherwise;
  }
}

/// The part of visit() for what few compilers have.
template <class Visit, class R>
R visit_wide(layout::element e, const Visit& call, R otherwise) {
  using layout::element;
  using std::type_identity;
  switch (e) {
    case element::i128:
      return call(type_identity<i128>{});
    case element::c16:
      return call(type_identity<complex<f16>>{});
    case element::c128:
      return call(type_identity<complex<quadruple>>{});
    default:
      return visit_truth_or_pair(e, call, otherwise);
  }
}

/// Calls visit(std::type_identity<T>{}) with the C++ type of `e`; `otherwise` for elements that
/// have no arithmetic (characters, mixed).
template <class Visit, class R>
R visit(layout::element e, const Visit& call, R otherwise) {
  using layout::element;
  using std::type_identity;
  switch (e) {
    case element::byte:
      return call(type_identity<raw>{});
    case element::c_char:  // as the compiler has it, with a sign or without
      return call(type_identity<char>{});
    case element::c_long:
      return call(type_identity<long>{});
    case element::c_ulong:
      return call(type_identity<unsigned long>{});
    case element::i8:
      return call(type_identity<std::int8_t>{});
    case element::i16:
      return call(type_identity<std::int16_t>{});
    case element::i32:
      return call(type_identity<std::int32_t>{});
    case element::i64:
    case element::address:
    case element::offset_:
    case element::count:
      return call(type_identity<std::int64_t>{});
    case element::u8:
      return call(type_identity<std::uint8_t>{});
    case element::u16:
      return call(type_identity<std::uint16_t>{});
    case element::u32:
      return call(type_identity<std::uint32_t>{});
    case element::u64:
      return call(type_identity<std::uint64_t>{});
    case element::f16:
      return call(type_identity<f16>{});
    case element::bf16:
      return call(type_identity<bf16>{});
    case element::f32:
      return call(type_identity<float>{});
    case element::f64:
      return call(type_identity<double>{});
    case element::f80:
      return call(type_identity<long double>{});
    case element::f128:
      return call(type_identity<quadruple>{});
    case element::c32:
      return call(type_identity<complex<float>>{});
    case element::c64:
      return call(type_identity<complex<double>>{});
    case element::c80:
      return call(type_identity<complex<long double>>{});
    default:
      return visit_wide(e, call, otherwise);
  }
}

}  // namespace sinew::coll::elements
