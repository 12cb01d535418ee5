// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/element.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/quadruple.hpp"

namespace sinew::coarray {
namespace {

__extension__ using int16 = __int128;
using real16 = quadruple;

template <class Real>
struct complex_pair {
  Real re;
  Real im;
};

/// In the order of slot().
using numbers = std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t, int16, float,
                           double, long double, real16, complex_pair<float>, complex_pair<double>,
                           complex_pair<long double>, complex_pair<real16>>;
constexpr std::size_t count = std::tuple_size_v<numbers>;

template <class T>
struct is_complex : std::false_type {};
template <class Real>
struct is_complex<complex_pair<Real>> : std::true_type {};

template <class To, class From>
void convert(void* to, const void* from) noexcept {
  From source;
  std::memcpy(&source, from, sizeof(From));
  To target;
  std::memset(&target, 0, sizeof(To));  // long double has padding
  if constexpr (is_complex<To>::value && is_complex<From>::value) {
    target.re = static_cast<decltype(target.re)>(source.re);
    target.im = static_cast<decltype(target.im)>(source.im);
  } else if constexpr (is_complex<To>::value) {
    target.re = static_cast<decltype(target.re)>(source);
  } else if constexpr (is_complex<From>::value) {
    target = static_cast<To>(source.re);
  } else {
    target = static_cast<To>(source);  // NOLINT(bugprone-signed-char-misuse): an integer(1)
  }
  std::memcpy(to, &target, sizeof(To));
}

using converter = void (*)(void*, const void*) noexcept;
template <std::size_t... I>
constexpr std::array<converter, count * count> make_table(std::index_sequence<I...>) {
  return {&convert<std::tuple_element_t<I / count, numbers>,
                   std::tuple_element_t<I % count, numbers>>...};
}
constexpr auto table = make_table(std::make_index_sequence<count * count>());
static_assert(count == 13);  // 5 integers, 4 reals, 4 complex numbers: see slot()
static_assert(sizeof(real16) == 16 && sizeof(int16) == 16);

/// Index in `numbers`, or `count`.
std::size_t slot(const element& e) noexcept {
  const auto real_slot = [](int kind) -> std::size_t {
    switch (kind) {
      case 4:
        return 0;
      case 8:
        return 1;
      case 10:
        return 2;
      case 16:
        return 3;
      default:
        return count;
    }
  };
  switch (e.type) {
    case type::integer:
    case type::logical:
      switch (e.bytes) {
        case 1:
          return 0;
        case 2:
          return 1;
        case 4:
          return 2;
        case 8:
          return 3;
        case 16:
          return 4;
        default:
          return count;
      }
    case type::real:
      return std::min(count, 5 + real_slot(e.kind));
    case type::complex:
      return std::min(count, 9 + real_slot(e.kind));
    default:
      return count;
  }
}

bool numeric(type t) noexcept {
  return t == type::integer || t == type::real || t == type::complex;
}

const char* name(type t) noexcept {
  constexpr const char* names[] = {"unknown", "integer", "logical",   "real",
                                   "complex", "derived", "character", "polymorphic"};
  const auto i = static_cast<std::size_t>(t);
  return i < std::size(names) ? names[i] : names[0];
}

std::uint32_t character(const unsigned char* at, int kind) noexcept {
  std::uint32_t c = *at;
  if (kind == 4) {
    std::memcpy(&c, at, 4);
  }
  return c;
}

/// Cut or padded with blanks; what kind 1 cannot hold becomes '?', as gfortran has it.
void convert_text(std::byte* to, const element& t, const std::byte* from,
                  const element& f) noexcept {
  const auto to_kind = static_cast<std::size_t>(t.kind == 4 ? 4 : 1);
  const auto from_kind = static_cast<std::size_t>(f.kind == 4 ? 4 : 1);
  const std::size_t n = t.bytes / to_kind;
  const std::size_t given = f.bytes / from_kind;
  const auto* source = reinterpret_cast<const unsigned char*>(from);
  SINEW_EXPECT(t.bytes % to_kind == 0 && f.bytes % from_kind == 0);
  if (to_kind == 1 && from_kind == 1) {
    std::memcpy(to, from, std::min(n, given));
    std::memset(to + std::min(n, given), ' ', n - std::min(n, given));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t c = i < given ? character(source + i * from_kind, f.kind) : ' ';
    if (to_kind == 4) {
      std::memcpy(to + i * 4, &c, 4);
    } else {
      to[i] = static_cast<std::byte>(c > 255 ? '?' : c);
    }
  }
}

}  // namespace

bool same(const element& a, const element& b) noexcept {
  return a.bytes == b.bytes && a.type == b.type && a.kind == b.kind;
}

conversion::conversion(const element& to, const element& from) : to_(to), from_(from) {
  if (same(to, from)) {
    return;
  }
  const bool texts = to.type == type::character && from.type == type::character;
  const bool logicals = to.type == type::logical && from.type == type::logical;
  if ((numeric(to.type) && numeric(from.type)) || logicals) {
    const std::size_t t = slot(to);
    const std::size_t f = slot(from);
    if (t != count && f != count) {
      number_ = table[t * count + f];
      return;
    }
  } else if (texts || (to.type == from.type && to.bytes == from.bytes)) {
    return;
  }
  const auto describe = [](const element& e) {
    return std::string(name(e.type)) + "(" + std::to_string(e.kind) + ") of " +
           std::to_string(e.bytes) + " bytes";
  };
  throw error(describe(from) + " cannot be assigned to " + describe(to),
              "Fortran knows no such conversion");
}

void conversion::operator()(void* to, const void* from) const noexcept {
  SINEW_EXPECT(to != nullptr && from != nullptr);
  if (number_ != nullptr) {
    number_(to, from);
  } else if (to_.type == type::character) {
    convert_text(static_cast<std::byte*>(to), to_, static_cast<const std::byte*>(from), from_);
  } else {
    SINEW_ASSERT(to_.bytes == from_.bytes);
    std::memcpy(to, from, to_.bytes);
  }
}

}  // namespace sinew::coarray
