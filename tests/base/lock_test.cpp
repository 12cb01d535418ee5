// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/lock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sinew::base {
namespace {

TEST(lock, excludes) {
  lock l;
  int value = 0;
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        guard held(l, true);
        ++value;
      }
    });
  }
  for (auto& t : all) {
    t.join();
  }
  EXPECT_EQ(value, 80000);
}

}  // namespace
}  // namespace sinew::base
