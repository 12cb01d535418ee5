// SPDX-License-Identifier: BSD-3-Clause
// One key after the other: what runs where no other kernel does, and what they are tested against.
#include "match/vector_kernels.hpp"

namespace sinew::match {

std::uint64_t compare_plain(const std::uint16_t* keys, const std::uint16_t* masks,
                            std::uint16_t key, std::uint16_t mask) noexcept {
  std::uint64_t equal = 0;
  for (std::size_t i = 0; i < vector_block; ++i) {
    equal |= std::uint64_t{((keys[i] ^ key) & masks[i] & mask) == 0} << i;
  }
  return equal;
}

}  // namespace sinew::match
