// Copies into memory that another processor has read or will read: by which instructions.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sinew::fabric::shm {

/// Below it the copy instruction's start costs more than it saves: messages of 4 KiB took 540 ns by
/// moves into the packet used last, 1,090 by the instruction into one long unused; of 7,000 bytes
/// 960 and 910 (medians over the states of a host whose processors drift apart and together).
inline constexpr std::size_t least_string_copy = 6144;

/// The processor's own copy instruction takes lines over without reading them first, and asks for
/// many at once: 64 KiB took 2.8 us, where moves of registers took 5.0 (50 ns apart).
inline void copy_out(std::byte* to, const void* from, std::size_t n) noexcept {
#if defined(__x86_64__)
  if (n >= least_string_copy) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
    return;
  }
#endif
  std::memcpy(to, from, n);
}

/// Past the caches, into `to` aligned to 16: the reader's lines are dropped, not fetched from its
/// cache, which a processor far away pays for. 64 KiB in pieces, both copies: 5.6 us whether the
/// processors are 60 or 250 ns apart, where copy_out() takes 2.7 and 23.
inline void copy_past_caches(std::byte* to, const void* from, std::size_t n) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t width = sizeof(__m128i);
  const auto* source = static_cast<const std::byte*>(from);
  for (; n >= 4 * width; n -= 4 * width) {
    __m128i line[4];
    std::memcpy(line, source, sizeof line);
    for (std::size_t i = 0; i < 4; ++i) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, line[i]);
    }
    to += sizeof line;
    source += sizeof line;
  }
  std::memcpy(to, source, n);
  // Such stores are ordered by nothing else: not even by a later release.
  _mm_sfence();
#else
  std::memcpy(to, from, n);
#endif
}

}  // namespace sinew::fabric::shm
