// SPDX-License-Identifier: BSD-3-Clause
// What reductions do to a run of elements.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "abi/coarray/collective.hpp"
#include "abi/coarray/wide_real.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/quadruple.hpp"

namespace sinew::coarray {
namespace {

__extension__ using int16 = __int128;
using real16 = quadruple;
__extension__ using complex4 = __complex__ float;
__extension__ using complex8 = __complex__ double;
__extension__ using complex10 = __complex__ long double;
// gcc has no spelling of it for C++ but the mode.
__extension__ using complex16 = __complex__ float __attribute__((mode(TC)));

template <class T>
void add(const combiner&, void* into, const void* from, std::size_t count) noexcept {
  auto* a = static_cast<T*>(into);
  const auto* b = static_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = static_cast<T>(a[i] + b[i]);
  }
}
template <class T>
void least(const combiner&, void* into, const void* from, std::size_t count) noexcept {
  auto* a = static_cast<T*>(into);
  const auto* b = static_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = b[i] < a[i] ? b[i] : a[i];
  }
}
template <class T>
void greatest(const combiner&, void* into, const void* from, std::size_t count) noexcept {
  auto* a = static_cast<T*>(into);
  const auto* b = static_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = a[i] < b[i] ? b[i] : a[i];
  }
}

/// Code points of kind 4 compare as unsigned numbers, characters of kind 1 as unsigned bytes.
template <class Character, bool Greatest>
void extreme_text(const combiner& self, void* into, const void* from, std::size_t count) noexcept {
  SINEW_EXPECT(self.element_bytes % sizeof(Character) == 0);
  auto* a = static_cast<Character*>(into);
  const auto* b = static_cast<const Character*>(from);
  const std::size_t n = self.element_bytes / sizeof(Character);
  for (std::size_t i = 0; i < count; ++i, a += n, b += n) {
    const bool less = std::lexicographical_compare(b, b + n, a, a + n);
    if (less != Greatest) {
      std::copy(b, b + n, a);
    }
  }
}

/// The compiler's flags of a function.
constexpr int by_value = 4;
constexpr int by_descriptor = 8;

template <class T>
void call_function(const combiner& self, void* into, const void* from, std::size_t count) noexcept {
  SINEW_EXPECT(self.function != nullptr && self.element_bytes == sizeof(T));
  auto* a = static_cast<T*>(into);
  const auto* b = static_cast<const T*>(from);
  if ((self.flags & by_value) != 0) {
    const auto op = reinterpret_cast<T (*)(T, T)>(self.function);
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = op(a[i], b[i]);
    }
  } else {
    const auto op = reinterpret_cast<T (*)(const T*, const T*)>(self.function);
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = op(a + i, b + i);
    }
  }
}

void call_text_function(const combiner& self, void* into, const void* from,
                        std::size_t count) noexcept {
  SINEW_EXPECT(self.function != nullptr);
  const auto op = reinterpret_cast<void (*)(void*, std::size_t, const void*, const void*,
                                            std::size_t, std::size_t)>(self.function);
  auto* a = static_cast<std::byte*>(into);
  const auto* b = static_cast<const std::byte*>(from);
  const auto result = std::make_unique_for_overwrite<std::byte[]>(self.element_bytes);
  const std::size_t n = self.characters;
  for (std::size_t i = 0; i < count; ++i, a += self.element_bytes, b += self.element_bytes) {
    op(result.get(), n, a, b, n, n);
    std::memcpy(a, result.get(), self.element_bytes);
  }
}

void call_record_function(const combiner& self, void* into, const void* from,
                          std::size_t count) noexcept {
  SINEW_EXPECT(self.function != nullptr && self.record != parts::unknown);
  auto* a = static_cast<std::byte*>(into);
  const auto* b = static_cast<const std::byte*>(from);
  const auto result = std::make_unique_for_overwrite<std::byte[]>(self.element_bytes);
  for (std::size_t i = 0; i < count; ++i, a += self.element_bytes, b += self.element_bytes) {
    call_record(self.function, (self.flags & by_value) != 0, self.element_bytes, self.record,
                result.get(), a, b);
    std::memcpy(a, result.get(), self.element_bytes);
  }
}

using call = decltype(combiner::call);

template <class T>
call ordered(reduction op) noexcept {
  switch (op) {
    case reduction::sum:
      return add<T>;
    case reduction::min:
      return least<T>;
    case reduction::max:
      return greatest<T>;
  }
  return nullptr;
}
template <class T>
call summed(reduction op) noexcept {
  return op == reduction::sum ? add<T> : nullptr;
}

/// Calls use(T{}) with the C++ type of a numeric element; what `use` returns, or null.
template <class Use>
call by_type(const element& e, Use&& use) {
  if (e.type == type::integer || e.type == type::logical) {
    switch (e.bytes) {
      case 1:
        return use(std::int8_t{});
      case 2:
        return use(std::int16_t{});
      case 4:
        return use(std::int32_t{});
      case 8:
        return use(std::int64_t{});
      case 16:
        return use(int16{});
      default:
        return nullptr;
    }
  }
  if (e.type == type::real) {
    return e.kind == 4    ? use(float{})
           : e.kind == 8  ? use(double{})
           : e.kind == 10 ? use(static_cast<long double>(0))
           : e.kind == 16 ? use(real16{})
                          : nullptr;
  }
  return nullptr;
}
template <class Use>
call by_complex_type(const element& e, Use&& use) {
  if (e.type != type::complex) {
    return nullptr;
  }
  return e.kind == 4    ? use(complex4{})
         : e.kind == 8  ? use(complex8{})
         : e.kind == 10 ? use(complex10{})
         : e.kind == 16 ? use(complex16{})
                        : nullptr;
}

call text_call(reduction op, int kind) noexcept {
  if (op == reduction::sum) {
    return nullptr;
  }
  const bool most = op == reduction::max;
  if (kind == 4) {
    return most ? extreme_text<std::uint32_t, true> : extreme_text<std::uint32_t, false>;
  }
  return most ? extreme_text<unsigned char, true> : extreme_text<unsigned char, false>;
}

}  // namespace

combiner intrinsic_combiner(reduction op, const element& e) {
  call c = nullptr;
  if (e.type == type::character) {
    c = text_call(op, e.kind);
  } else if (e.type != type::logical) {
    c = by_type(e, [op](auto zero) { return ordered<decltype(zero)>(op); });
    if (c == nullptr) {
      c = by_complex_type(e, [op](auto zero) { return summed<decltype(zero)>(op); });
    }
  }
  if (c == nullptr) {
    throw error("elements of type " + std::to_string(static_cast<int>(e.type)) + ", kind " +
                    std::to_string(e.kind) + " cannot be reduced so",
                "Fortran has no such sum, minimum or maximum");
  }
  return {c, e.bytes};
}

combiner user_combiner(void* function, int flags, const element& given, std::size_t characters) {
  element e = given;
  const bool complex = e.type == type::complex;
  if ((e.type == type::real && e.bytes == 16) || (complex && e.bytes == 32)) {
    e.kind =
        result_format(function, (flags & by_value) != 0, complex) == wide_format::x87 ? 10 : 16;
  }
  call c = nullptr;
  parts record = parts::unknown;
  if ((flags & by_descriptor) != 0) {
    c = nullptr;
  } else if (e.type == type::character) {
    c = call_text_function;
  } else if (e.type == type::derived) {
    record = parts_of(function, (flags & by_value) != 0, e.bytes);
    c = record != parts::unknown ? call_record_function : nullptr;
  } else {
    c = by_type(e, [](auto zero) { return call_function<decltype(zero)>; });
    if (c == nullptr) {
      c = by_complex_type(e, [](auto zero) { return call_function<decltype(zero)>; });
    }
  }
  if (c == nullptr) {
    throw error("_gfortran_caf_co_reduce cannot call this function",
                "its arguments are of type " + std::to_string(static_cast<int>(e.type)) + " with " +
                    std::to_string(e.bytes) + " bytes, flags " + std::to_string(flags));
  }
  SINEW_ENSURE(e.type != type::derived || record != parts::unknown);
  return {c, e.bytes, function, flags, characters, record};
}

}  // namespace sinew::coarray
