// SPDX-License-Identifier: BSD-3-Clause
#include "event/number_lists.hpp"

#include <set>

#include "gtest/gtest.h"
#include "sinew/base/error.hpp"

namespace sinew::event {
namespace {

TEST(number_lists, keep_all_and_use_their_chunks_again) {
  number_lists lists(200);
  for (int round = 0; round < 20; ++round) {  // would not fit if chunks were not used again
    std::uint32_t list = 0;
    std::set<std::uint32_t> all;
    for (std::uint32_t n = 0; n < 1000; ++n) {
      lists.put(list, n * 7);
      all.insert(n * 7);
    }
    EXPECT_TRUE(lists.contains(list, 7 * 999));
    EXPECT_FALSE(lists.contains(list, 3));
    lists.consume(list, [&](std::uint32_t n) { EXPECT_EQ(all.erase(n), 1u); });
    EXPECT_TRUE(all.empty());
  }
  std::uint32_t list = 0;
  std::uint32_t count = 0;
  EXPECT_THROW(for (;; ++count) { lists.put(list, count); }, error);
  std::uint32_t seen = 0;
  lists.consume(list, [&](std::uint32_t) { ++seen; });
  EXPECT_EQ(seen, count);
}

}  // namespace
}  // namespace sinew::event
