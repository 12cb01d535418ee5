// SPDX-License-Identifier: BSD-3-Clause
// Copies through the kernel, from and to this very process: the places where they go by a piece of
// memory in between, and lengths that take several of those.
#include "fabric/shm/cma.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace sinew::fabric::shm {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t most = 100'000;

class cma : public ::testing::Test {
 protected:
  void SetUp() override {
    int here = 1;
    int there = 0;
    if (!read_process(getpid(), &there, reinterpret_cast<std::uintptr_t>(&here), sizeof here)) {
      GTEST_SKIP() << "the system does not let processes copy from each other";
    }
    for (std::size_t i = 0; i < from_.size(); ++i) {
      from_[i] = static_cast<std::byte>(i * 11 + i / 253);
    }
  }

  /// [n bytes] at the wanted distance modulo a page behind where the source begins.
  template <class Copy>
  void check(Copy copy, std::size_t ahead, std::size_t n) {
    std::fill(to_.begin(), to_.end(), std::byte{0xee});
    const auto from = reinterpret_cast<std::uintptr_t>(from_.data());
    const auto base = reinterpret_cast<std::uintptr_t>(to_.data());
    const std::size_t at = 1 + (from + ahead - base - 1) % page;
    ASSERT_TRUE(copy(to_.data() + at, from_.data(), n));
    ASSERT_TRUE(std::equal(from_.begin(), from_.begin() + static_cast<std::ptrdiff_t>(n),
                           to_.begin() + static_cast<std::ptrdiff_t>(at)))
        << n << " bytes, " << ahead << " ahead";
    ASSERT_EQ(to_[at - 1], std::byte{0xee});
    ASSERT_EQ(to_[at + n], std::byte{0xee});
  }

  static bool read(std::byte* to, const std::byte* from, std::size_t n) {
    return read_process(getpid(), to, reinterpret_cast<std::uintptr_t>(from), n);
  }
  static bool write(std::byte* to, const std::byte* from, std::size_t n) {
    return write_process(getpid(), from, reinterpret_cast<std::uintptr_t>(to), n);
  }

 private:
  std::vector<std::byte> from_ = std::vector<std::byte>(most);
  std::vector<std::byte> to_ = std::vector<std::byte>(most + 2 * page);
};

TEST_F(cma, is_exact_wherever_the_two_sides_lie) {
  for (const std::size_t ahead : {0U, 1U, 8U, 15U, 16U, 4088U}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{2047}, std::size_t{2048},
                                std::size_t{32768}, std::size_t{32769}, most}) {
      check(read, ahead, n);
      check(write, ahead, n);
    }
  }
}

TEST_F(cma, says_so_where_there_is_no_memory) {
  std::vector<std::byte> here(40'000);
  const std::uint64_t nowhere = 4096 + (reinterpret_cast<std::uintptr_t>(here.data()) + 1) % page;
  EXPECT_FALSE(write_process(getpid(), here.data(), nowhere, here.size()));  // 1 ahead
  EXPECT_FALSE(read_process(getpid(), here.data() + 2, nowhere, here.size()));
}

}  // namespace
}  // namespace sinew::fabric::shm
