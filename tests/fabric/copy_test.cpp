// SPDX-License-Identifier: BSD-3-Clause
// What fills packets, at all small and some long lengths, and when which kind of copy is used.
#include "fabric/shm/copy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fabric/shm/distance.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::fabric::shm {
namespace {

constexpr std::size_t longest = 8192;
constexpr std::byte untouched{0xee};

void check_copy(std::size_t n, std::size_t shift) {
  alignas(64) static std::array<std::byte, longest + 64> to;
  std::vector<std::byte> from(n + shift);
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<std::byte>(i * 7 + i / 251);
  }
  to.fill(untouched);
  copy_out(to.data(), from.data() + shift, n);
  ASSERT_EQ(std::memcmp(to.data(), from.data() + shift, n), 0) << n << " bytes from " << shift;
  for (std::size_t i = n; i < to.size(); ++i) {
    ASSERT_EQ(to[i], untouched) << i << " after " << n << " bytes";
  }
}

TEST(copy, is_exact_at_any_length_and_alignment_of_its_source) {
  for (std::size_t n = 1; n <= longest; n += n < 200 ? 1 : 61) {
    for (const std::size_t shift : {0U, 1U, 8U, 33U}) {
      check_copy(n, shift);
    }
  }
  check_copy(longest, 5);
}

TEST(distance, goes_far_when_packets_cost_much_and_comes_back_after_some_looks) {
  constexpr std::size_t packet = 8192;
  const std::uint64_t dear = ns_to_ticks(2500);
  const std::uint64_t cheap = ns_to_ticks(300);
  distance away;
  const auto notes_until = [&](distance::change wanted, std::uint64_t cost) {
    int notes = 1;
    while (away.note(cost, packet) != wanted && notes < 100) {
      ++notes;
    }
    return notes;
  };
  EXPECT_EQ(away.note(cheap, packet), distance::change::none);
  EXPECT_FALSE(away.far());
  EXPECT_GT(notes_until(distance::change::went_far, dear), 1);  // one says little
  EXPECT_TRUE(away.far());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(away.note(dear, packet), distance::change::none);
  }
  const int looks = notes_until(distance::change::came_near, cheap);
  EXPECT_GT(looks, 1);
  EXPECT_LE(looks, 4);
  EXPECT_FALSE(away.far());
}

TEST(distance, looks_rarely_and_several_times_in_a_row) {
  distance away;
  const std::uint64_t begin = ns_to_ticks(1'000'000'000);
  EXPECT_TRUE(away.look_again(begin));
  EXPECT_TRUE(away.look_again(begin + ns_to_ticks(2000)));
  EXPECT_TRUE(away.look_again(begin + ns_to_ticks(4000)));
  EXPECT_FALSE(away.look_again(begin + ns_to_ticks(20000)));
  EXPECT_FALSE(away.look_again(begin + ns_to_ticks(300000)));
  EXPECT_TRUE(away.look_again(begin + ns_to_ticks(500000)));
  EXPECT_TRUE(away.look_again(begin + ns_to_ticks(502000)));
}

}  // namespace
}  // namespace sinew::fabric::shm
