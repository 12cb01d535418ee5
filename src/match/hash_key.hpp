// SPDX-License-Identifier: BSD-3-Clause
// The hash of `hash`, keyed per process: who does not know the key cannot choose tags that collide.
#pragma once

#include <cstdint>

namespace sinew::match {

/// Odd multipliers and a mask, drawn at random.
struct hash_key {
  std::uint64_t mask;
  std::uint64_t first;
  std::uint64_t second;
};

/// This process's own secret, drawn at its first use. Any thread. Cold.
[[nodiscard]] const hash_key& process_hash_key();

/// From a seed, for tests.
[[nodiscard]] hash_key make_hash_key(std::uint64_t seed) noexcept;

/// Both halves of a product, folded: every bit of the result depends on every bit of `a`.
[[nodiscard]] constexpr std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using wide = unsigned __int128;
  const wide product = static_cast<wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Twice, since one product spreads equidistant values no better than equidistantly. (A CRC would
/// not do at all: whether two values collide in it does not depend on where it starts.) Hot.
[[nodiscard]] constexpr std::uint64_t keyed_hash(const hash_key& k, std::uint64_t value) noexcept {
  return folded_product(folded_product(value ^ k.mask, k.first), k.second);
}

}  // namespace sinew::match
