// SPDX-License-Identifier: BSD-3-Clause
// Sixteen keys at a time. Only this file's own code is compiled for AVX2: it must define no inline
// function that other files share, or they might end up with this version of it.
#include <immintrin.h>

#include "match/vector_kernels.hpp"

namespace sinew::match {
namespace {

/// 0xFFFF in each lane whose key agrees.
inline __m256i agree(const std::uint16_t* keys, const std::uint16_t* masks, __m256i key,
                     __m256i mask) noexcept {
  const __m256i k = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
  const __m256i m = _mm256_load_si256(reinterpret_cast<const __m256i*>(masks));
  const __m256i differ = _mm256_and_si256(_mm256_xor_si256(k, key), _mm256_and_si256(m, mask));
  return _mm256_cmpeq_epi16(differ, _mm256_setzero_si256());
}

}  // namespace

std::uint64_t compare_avx2(const std::uint16_t* keys, const std::uint16_t* masks, std::uint16_t key,
                           std::uint16_t mask) noexcept {
  const __m256i k = _mm256_set1_epi16(static_cast<short>(key));
  const __m256i m = _mm256_set1_epi16(static_cast<short>(mask));
  std::uint64_t equal = 0;
  for (std::size_t i = 0; i < vector_block; i += 32) {
    // Packing works within halves of a register; the permutation brings them into order.
    const __m256i bytes = _mm256_packs_epi16(agree(keys + i, masks + i, k, m),
                                             agree(keys + i + 16, masks + i + 16, k, m));
    const __m256i ordered = _mm256_permute4x64_epi64(bytes, 0b11011000);
    const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(ordered));
    equal |= std::uint64_t{bits} << i;
  }
  return equal;
}

}  // namespace sinew::match
