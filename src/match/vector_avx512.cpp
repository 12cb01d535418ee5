// SPDX-License-Identifier: BSD-3-Clause
// Thirty-two keys at a time. The same caution as in vector_avx2.cpp: no shared inline functions.
#include <immintrin.h>

#include "match/vector_kernels.hpp"

namespace sinew::match {
namespace {

inline std::uint64_t agree(const std::uint16_t* keys, const std::uint16_t* masks, __m512i key,
                           __m512i mask) noexcept {
  const __m512i differ = _mm512_xor_si512(_mm512_load_si512(keys), key);
  return _mm512_testn_epi16_mask(differ, _mm512_and_si512(_mm512_load_si512(masks), mask));
}

}  // namespace

std::uint64_t compare_avx512(const std::uint16_t* keys, const std::uint16_t* masks,
                             std::uint16_t key, std::uint16_t mask) noexcept {
  const __m512i k = _mm512_set1_epi16(static_cast<short>(key));
  const __m512i m = _mm512_set1_epi16(static_cast<short>(mask));
  return agree(keys, masks, k, m) | agree(keys + 32, masks + 32, k, m) << 32;
}

}  // namespace sinew::match
