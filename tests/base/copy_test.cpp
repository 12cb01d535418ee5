// SPDX-License-Identifier: BSD-3-Clause
// Every kind of copy at many lengths and at all places of both sides that matter.
#include "sinew/base/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace sinew {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t room = 5 * page;
constexpr std::byte untouched{0xee};

struct alignas(page) pages {
  std::byte at[room];
};

class copies : public ::testing::Test {
 protected:
  copies() {
    for (std::size_t i = 0; i < room; ++i) {
      from_->at[i] = static_cast<std::byte>(i * 7 + i / 251);
    }
  }

  template <class Copy>
  void check(Copy copy, std::size_t to_at, std::size_t from_at, std::size_t n) {
    std::fill_n(to_->at, room, untouched);
    copy(to_->at + to_at, from_->at + from_at, n);
    const auto is_untouched = [](std::byte b) { return b == untouched; };
    ASSERT_TRUE(std::equal(from_->at + from_at, from_->at + from_at + n, to_->at + to_at))
        << n << " bytes from " << from_at << " to " << to_at;
    ASSERT_TRUE(std::all_of(to_->at, to_->at + to_at, is_untouched)) << to_at;
    ASSERT_TRUE(std::all_of(to_->at + to_at + n, to_->at + room, is_untouched)) << to_at + n;
  }

 private:
  std::unique_ptr<pages> from_ = std::make_unique<pages>();
  std::unique_ptr<pages> to_ = std::make_unique<pages>();
};

TEST_F(copies, are_exact_at_any_length_and_place) {
  for (const std::size_t n : {0, 1, 7, 63, 64, 65, 200, 2047, 2048, 4097, 9000}) {
    for (const std::size_t from_at : {0U, 1U, 16U, 37U}) {
      for (const std::size_t ahead : {0U, 1U, 8U, 15U, 16U, 40U, 64U, 2048U, 4080U, 4097U}) {
        check(copy_bytes, from_at + ahead, from_at, n);
        check(copy_lines, from_at + ahead, from_at, n);
        check(copy_past_caches, from_at + ahead, from_at, n);
      }
    }
  }
}

TEST(copy_bytes, takes_null_pointers_for_nothing) {
  copy_bytes(nullptr, nullptr, 0);
  copy_lines(nullptr, nullptr, 0);
}

TEST(copies_oddly, knows_the_distances_within_a_page_that_are_slow) {
  constexpr std::uintptr_t base = 0x10000;
  for (const std::uintptr_t slow : {1, 8, 15}) {
    EXPECT_TRUE(copies_oddly(base + slow, base)) << slow;
    EXPECT_TRUE(copies_oddly(base + slow, base + 7 * page)) << slow;
    EXPECT_TRUE(copies_oddly(base + 7 * page + slow, base)) << slow;
  }
  for (const std::uintptr_t quick : {0, 16, 64, 2048, 4088}) {
    EXPECT_FALSE(copies_oddly(base + quick, base)) << quick;
    EXPECT_FALSE(copies_oddly(base + 3 * page + quick, base)) << quick;
  }
}

}  // namespace
}  // namespace sinew
