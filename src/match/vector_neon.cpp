// SPDX-License-Identifier: BSD-3-Clause
// Eight keys at a time, sixteen answers gathered at once; NEON is part of every 64-bit ARM.
#include <arm_neon.h>

#include "match/vector_kernels.hpp"

namespace sinew::match {
namespace {

/// 0xFF in each lane whose key agrees.
inline uint8x8_t agree(const std::uint16_t* keys, const std::uint16_t* masks, uint16x8_t key,
                       uint16x8_t mask) noexcept {
  const uint16x8_t differ = veorq_u16(vld1q_u16(keys), key);
  return vmovn_u16(vceqzq_u16(vandq_u16(differ, vandq_u16(vld1q_u16(masks), mask))));
}

}  // namespace

std::uint64_t compare_neon(const std::uint16_t* keys, const std::uint16_t* masks, std::uint16_t key,
                           std::uint16_t mask) noexcept {
  const uint16x8_t k = vdupq_n_u16(key);
  const uint16x8_t m = vdupq_n_u16(mask);
  const uint8x8_t bit = {1, 2, 4, 8, 16, 32, 64, 128};
  std::uint64_t equal = 0;
  for (std::size_t i = 0; i < vector_block; i += 8) {
    const uint8_t bits = vaddv_u8(vand_u8(agree(keys + i, masks + i, k, m), bit));
    equal |= std::uint64_t{bits} << i;
  }
  return equal;
}

}  // namespace sinew::match
