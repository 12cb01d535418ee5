// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/layout/external32.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sinew/base/check.hpp"
#include "sinew/base/quadruple.hpp"

namespace sinew::layout {
namespace {

enum class change : std::uint8_t {
  reversed,       ///< same width
  with_sign,      ///< fewer bytes: the lowest ones, which the sign fills on the way back
  without_sign,   ///< the same; zeros fill
  quadruple_long  ///< a long double as an IEEE quadruple
};

/// A number in memory and in external32.
struct number {
  std::size_t width;
  std::size_t external;
  change by = change::reversed;
};
constexpr number plain(std::size_t width) { return {width, width}; }

constexpr number c_long{sizeof(long), 4, change::with_sign};
constexpr number c_unsigned_long{sizeof(long), 4, change::without_sign};
constexpr number wide_character{sizeof(wchar_t), 2, change::without_sign};
constexpr number long_double{sizeof(long double), 16, change::quadruple_long};

/// An element: a number once or more often, and perhaps another one.
struct form {
  number value;
  std::size_t repeated = 1;
  number tail{0, 0};

  [[nodiscard]] constexpr std::size_t external() const noexcept {
    return value.external * repeated + tail.external;
  }
  [[nodiscard]] constexpr std::size_t native() const noexcept {
    return value.width * repeated + tail.width;
  }
};

form form_of(element e) noexcept {
  switch (e) {
    case element::c_long:
      return {c_long};
    case element::c_ulong:
      return {c_unsigned_long};
    case element::wide_character:
      return {wide_character};
    case element::f80:
      return {long_double};
    case element::c16:
      return {plain(2), 2};
    case element::c32:
      return {plain(4), 2};
    case element::c64:
      return {plain(8), 2};
    case element::c80:
      return {long_double, 2};
    case element::c128:
      return {plain(16), 2};
    case element::pair_i16_i32:
      return {plain(2), 1, plain(4)};
    case element::pair_f32_i32:
    case element::pair_i32_i32:
    case element::pair_f32_f32:
      return {plain(4), 1, plain(4)};
    case element::pair_f64_i32:
    case element::pair_i64_i32:
      return {plain(8), 1, plain(4)};
    case element::pair_f64_f64:
      return {plain(8), 1, plain(8)};
    case element::pair_long_i32:
      return {c_long, 1, plain(4)};
    case element::pair_f80_i32:
      return {long_double, 1, plain(4)};
    default:
      return {plain(size_of(e))};
  }
}

static_assert(sizeof(quadruple) == 16);

static_assert(std::endian::native == std::endian::little);  // encode() and decode() reverse bytes

template <class From, class To>
void convert(const std::byte* from, std::byte* to) noexcept {
  From before;
  std::memcpy(&before, from, sizeof before);
  const To after = static_cast<To>(before);
  std::memcpy(to, &after, sizeof after);
}

void encode(const number& n, const std::byte*& from, std::byte*& to) noexcept {
  SINEW_EXPECT(n.external <= n.width || n.by == change::quadruple_long);
  if (n.by == change::quadruple_long) {
    convert<long double, quadruple>(from, to);
    std::reverse(to, to + n.external);
  } else {
    std::reverse_copy(from, from + n.external, to);  // the lowest bytes come first here
  }
  from += n.width;
  to += n.external;
}

void decode(const number& n, const std::byte*& from, std::byte*& to) noexcept {
  SINEW_EXPECT(n.external <= n.width || n.by == change::quadruple_long);
  std::byte turned[16];
  SINEW_ASSERT(n.external <= sizeof turned);
  if (n.by == change::quadruple_long) {
    std::reverse_copy(from, from + n.external, turned);
    convert<quadruple, long double>(turned, to);
  } else {
    std::reverse_copy(from, from + n.external, to);
    const bool negative = n.by == change::with_sign && (from[0] & std::byte{0x80}) != std::byte{};
    std::fill(to + n.external, to + n.width, negative ? std::byte{0xff} : std::byte{});
  }
  from += n.external;
  to += n.width;
}

using recoder = void (*)(const number&, const std::byte*&, std::byte*&) noexcept;

void convert_all(const datatype& t, std::size_t count, const std::byte* from, std::byte* to,
                 recoder recode) {
  for_each_leaf(t, count, [&](std::ptrdiff_t, std::size_t n, element kind) {
    const form f = form_of(kind);
    SINEW_ASSERT(f.native() == size_of(kind));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < f.repeated; ++k) {
        recode(f.value, from, to);
      }
      if (f.tail.width != 0) {
        recode(f.tail, from, to);
      }
    }
  });
}

}  // namespace

std::optional<std::size_t> external_size(const datatype& t) {
  std::size_t bytes = 0;
  bool overflow = false;
  const auto add = [&](std::size_t n, element kind) {
    std::size_t more = 0;
    overflow |= __builtin_mul_overflow(n, form_of(kind).external(), &more);
    overflow |= __builtin_add_overflow(bytes, more, &bytes);
  };
  if (t.base() != element::none) {
    add(t.elements(), t.base());
  } else {
    for_each_leaf(t, 1, [&](std::ptrdiff_t, std::size_t n, element kind) { add(n, kind); });
  }
  return overflow ? std::nullopt : std::optional(bytes);
}

std::size_t native_bytes_in(const datatype& t, std::size_t external) {
  std::size_t native = 0;
  bool over = false;
  for_each_leaf(t, 1, [&](std::ptrdiff_t, std::size_t n, element kind) {
    const form f = form_of(kind);
    const std::size_t whole = over ? 0 : std::min(n, external / f.external());
    native += whole * f.native();
    external -= whole * f.external();
    over = over || whole < n;
  });
  SINEW_ENSURE(native <= t.size());
  return native;
}

void to_external(const datatype& t, std::size_t count, const std::byte* packed,
                 std::byte* external) {
  convert_all(t, count, packed, external, encode);
}

void from_external(const datatype& t, std::size_t count, const std::byte* external,
                   std::byte* packed) {
  convert_all(t, count, external, packed, decode);
}

}  // namespace sinew::layout
