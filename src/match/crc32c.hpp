// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78) of one 64-bit word: eight look-ups, one per
// byte, that do not wait for each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sinew::match {
namespace detail {

/// [n][b]: what byte b adds when n more bytes follow it.
inline constexpr auto crc32c_table = [] {
  std::array<std::array<std::uint32_t, 256>, 8> t{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int bit = 0; bit < 8; ++bit) {
      c = (c >> 1) ^ ((c & 1) != 0 ? 0x82F63B78u : 0u);
    }
    t[0][b] = c;
  }
  for (std::size_t n = 1; n < 8; ++n) {
    for (std::size_t b = 0; b < 256; ++b) {
      t[n][b] = (t[n - 1][b] >> 8) ^ t[0][t[n - 1][b] & 0xFF];
    }
  }
  return t;
}();

}  // namespace detail

/// Continues `crc` with the eight bytes of `word`, lowest first; no inversion before or after.
[[nodiscard]] constexpr std::uint32_t crc32c(std::uint32_t crc, std::uint64_t word) noexcept {
  word ^= crc;
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    result ^= detail::crc32c_table[7 - i][(word >> (8 * i)) & 0xFF];
  }
  return result;
}

}  // namespace sinew::match
