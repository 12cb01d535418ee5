// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/wide_real.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "abi/coarray/settings.hpp"
#include "sinew/base/quadruple.hpp"

namespace sinew::coarray {
namespace {

using real16 = quadruple;
__extension__ using complex16 = __complex__ float __attribute__((mode(TC)));

/// Elsewhere, as on arm64, compilers have no REAL(10).
constexpr bool has_x87 = std::numeric_limits<long double>::digits == 64;

struct halves {
  std::uint64_t low;
  std::uint64_t high;
};

/// 1 as x87 has it, and nearly 1 as quad.
constexpr halves one = {std::uint64_t{1} << 63, std::uint64_t{0x3fff} << 48 | 0x3fff};

#if defined(__x86_64__)
/// Whether something was left in the x87 registers; empties them.
bool empty_x87() noexcept {
  struct {
    std::uint32_t control, status, tags, rest[4];
  } environment;
  asm volatile("fnstenv %0" : "=m"(environment));
  const bool used = (environment.tags & 0xffff) != 0xffff;
  if (used) {
    asm volatile("emms" ::: "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
  }
  const auto control = static_cast<std::uint16_t>(environment.control);
  asm volatile("fldcw %0" ::"m"(control));  // fnstenv has masked all exceptions
  return used;
}
#endif

template <class T>
void call_once(void* function, bool by_value, const T& a, const T& b) noexcept {
  volatile T result;
  if (by_value) {
    result = reinterpret_cast<T (*)(T, T)>(function)(a, b);
  } else {
    result = reinterpret_cast<T (*)(const T*, const T*)>(function)(&a, &b);
  }
  (void)result;
}

}  // namespace

void wide_evidence::look_at(const void* element) noexcept {
  halves h;
  std::memcpy(&h, element, sizeof(h));
  const bool top_bit = h.low >> 63 != 0;  // of every REAL(10) but zero
  const std::uint64_t exponent = h.high & 0x7fff;
  if (top_bit ? exponent == 0 : (h.low | exponent) != 0) {
    ++not_x87;
  } else if (top_bit && exponent >= 0x3f00 && exponent < 0x4100) {
    ++x87;
  }
}

wide_format wide_evidence::verdict() const {
  if (wide_real() != "guess") {
    return wide_real() == "10" ? wide_format::x87 : wide_format::quad;
  }
  return has_x87 && not_x87 == 0 && x87 != 0 ? wide_format::x87 : wide_format::quad;
}

wide_format result_format(void* function, bool by_value, bool complex) noexcept {
#if defined(__x86_64__)
  (void)empty_x87();
  if (complex) {
    const halves pair[2] = {one, one};
    complex16 value;
    std::memcpy(&value, pair, sizeof(value));
    call_once(function, by_value, value, value);
  } else {
    real16 value;
    std::memcpy(&value, &one, sizeof(value));
    call_once(function, by_value, value, value);
  }
  return empty_x87() ? wide_format::x87 : wide_format::quad;
#else
  (void)function, (void)by_value, (void)complex;
  return wide_format::quad;
#endif
}

}  // namespace sinew::coarray
