// SPDX-License-Identifier: BSD-3-Clause
#include "match/hash_key.hpp"

#include "sinew/base/random.hpp"

namespace sinew::match {

hash_key make_hash_key(std::uint64_t seed) noexcept {
  const std::uint64_t mask = split_mix(seed);
  const std::uint64_t first = split_mix(seed) | 1;
  return {mask, first, split_mix(seed) | 1};
}

const hash_key& process_hash_key() {
  static const hash_key key{unpredictable_word(), unpredictable_word() | 1,
                            unpredictable_word() | 1};
  return key;
}

}  // namespace sinew::match
