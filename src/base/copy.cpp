// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/copy.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sinew {

#if defined(__x86_64__)
namespace {

template <class Store>
void copy_by(Store store, void* into, const void* out_of, std::size_t n) noexcept {
  constexpr std::size_t line = 64;
  auto* to = static_cast<std::byte*>(into);
  const auto* from = static_cast<const std::byte*>(out_of);
  const std::size_t head = std::min(n, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
  if (head != 0) {
    std::memcpy(to, from, head);
    to += head;
    from += head;
    n -= head;
  }
  for (; n >= line; n -= line, to += line, from += line) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    store(target, a);
    store(target + 1, b);
    store(target + 2, c);
    store(target + 3, d);
  }
  if (n != 0) {
    std::memcpy(to, from, n);
  }
}

}  // namespace

void copy_lines(void* to, const void* from, std::size_t n) noexcept {
  copy_by([](__m128i* at, __m128i value) { _mm_store_si128(at, value); }, to, from, n);
}

void copy_past_caches(void* to, const void* from, std::size_t n) noexcept {
  copy_by([](__m128i* at, __m128i value) { _mm_stream_si128(at, value); }, to, from, n);
  _mm_sfence();
}
#else
void copy_lines(void* to, const void* from, std::size_t n) noexcept {
  if (n != 0) {
    std::memcpy(to, from, n);
  }
}

void copy_past_caches(void* to, const void* from, std::size_t n) noexcept {
  copy_lines(to, from, n);
}
#endif

}  // namespace sinew
