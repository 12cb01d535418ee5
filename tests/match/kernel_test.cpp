// SPDX-License-Identifier: BSD-3-Clause
// The parts of bins64 and vector that can be checked by themselves.
#include <gtest/gtest.h>

#include <random>

#include "match/crc32c.hpp"
#include "match/vector_kernels.hpp"

namespace sinew::match {
namespace {

TEST(crc32c, gives_the_published_values) {
  std::uint32_t zeros = 0xFFFFFFFF;  // RFC 3720, appendix B.4: 32 bytes of zeros, of ones, rising
  std::uint32_t ones = 0xFFFFFFFF;
  std::uint32_t rising = 0xFFFFFFFF;
  for (std::uint64_t i = 0; i < 4; ++i) {
    zeros = crc32c(zeros, 0);
    ones = crc32c(ones, ~std::uint64_t{0});
    rising = crc32c(rising, 0x0706050403020100 + i * 0x0808080808080808);
  }
  EXPECT_EQ(~zeros, 0x8A9136AAu);
  EXPECT_EQ(~ones, 0x62A8AB43u);
  EXPECT_EQ(~rising, 0x46DD794Eu);
}

TEST(vector_kernels, agree_with_the_plain_one) {
  const vector_kernel_list list = vector_kernels();
  ASSERT_EQ(list.first[list.count - 1].compare, compare_plain);
  ASSERT_TRUE(list.first[list.count - 1].usable);
  std::mt19937 random(5);
  alignas(64) std::uint16_t keys[vector_block];
  alignas(64) std::uint16_t masks[vector_block];
  constexpr std::uint16_t some_masks[] = {0xFFFF, 0xFF00, 0x00FF, 0};
  constexpr std::uint16_t some_keys[] = {0, 1, 0x100, 0x8000, 0x7FFF, 0xFFFF};
  for (std::size_t k = 0; k < list.count; ++k) {
    if (!list.first[k].usable) {
      continue;
    }
    SCOPED_TRACE(list.first[k].name);
    for (int round = 0; round < 20000; ++round) {
      for (std::size_t i = 0; i < vector_block; ++i) {
        keys[i] = some_keys[random() % 6];
        masks[i] = some_masks[random() % 4];
      }
      const std::uint16_t key = some_keys[random() % 6];
      const std::uint16_t mask = some_masks[random() % 4];
      ASSERT_EQ(list.first[k].compare(keys, masks, key, mask),
                compare_plain(keys, masks, key, mask));
    }
  }
}

TEST(vector_kernels, the_plain_one_compares_what_both_masks_keep) {
  alignas(64) std::uint16_t keys[vector_block] = {};
  alignas(64) std::uint16_t masks[vector_block] = {};
  for (std::uint16_t& m : masks) {
    m = 0xFFFF;
  }
  keys[0] = 0x1234;
  keys[1] = 0x1200;
  keys[63] = 0x0034;
  masks[63] = 0x00FF;
  EXPECT_EQ(compare_plain(keys, masks, 0x1234, 0xFFFF), std::uint64_t{1} | std::uint64_t{1} << 63);
  EXPECT_EQ(compare_plain(keys, masks, 0x1299, 0xFF00), std::uint64_t{3} | std::uint64_t{1} << 63);
}

}  // namespace
}  // namespace sinew::match
