// SPDX-License-Identifier: BSD-3-Clause
#include "event/runs.hpp"

#include <vector>

#include "event/ring.hpp"
#include "gtest/gtest.h"
#include "sinew/base/random.hpp"

namespace sinew::event {
namespace {

/// How generations 1..n of a slot ended, at random.
std::vector<bool> random_history(random_generator& random) {
  std::vector<bool> poisoned;
  for (std::uint64_t n = 1 + random.below(30); n != 0; --n) {
    poisoned.push_back(random.below(3) == 0);
  }
  return poisoned;
}

TEST(runs, find_what_was_added_in_any_order) {
  random_generator random(seed_from_environment());
  for (int round = 0; round < 300; ++round) {
    const std::vector<bool> poisoned = random_history(random);
    runs all;
    std::vector<bool> known(poisoned.size());
    for (int fact = 0; fact < 20; ++fact) {
      const std::size_t first = random.below(poisoned.size());
      std::size_t last = first;
      while (last + 1 < poisoned.size() && poisoned[last + 1] == poisoned[first] &&
             random.below(4) != 0) {
        ++last;
      }
      all.add({static_cast<std::uint32_t>(first + 1), static_cast<std::uint32_t>(last + 1),
               poisoned[first]});
      for (std::size_t i = first; i <= last; ++i) {
        known[i] = true;
      }
      for (std::size_t i = 0; i < poisoned.size(); ++i) {
        const run* const found = all.find(static_cast<std::uint32_t>(i + 1));
        ASSERT_EQ(found != nullptr, known[i]);
        ASSERT_TRUE(found == nullptr || found->poisoned == poisoned[i]);
      }
    }
    EXPECT_LE(all.size(), poisoned.size());
  }
}

TEST(runs, one_is_forgotten_and_its_neighbours_stay) {
  runs all;
  all.add({3, 7, true});
  EXPECT_FALSE(all.remove(2));
  for (const std::uint32_t g : {5u, 3u, 7u}) {
    EXPECT_TRUE(all.remove(g));
    EXPECT_FALSE(all.remove(g));
  }
  EXPECT_EQ(all.size(), 2u);
  EXPECT_NE(all.find(4), nullptr);
  EXPECT_NE(all.find(6), nullptr);
  EXPECT_TRUE(all.remove(4) && all.remove(6));
  EXPECT_EQ(all.size(), 0u);
}

TEST(runs, around_a_generation_are_all_that_ended_as_it_did) {
  random_generator random(seed_from_environment());
  for (int round = 0; round < 300; ++round) {
    const std::vector<bool> poisoned = random_history(random);
    const auto newest = static_cast<std::uint32_t>(poisoned.size());
    runs all;
    for (std::uint32_t g = 1; g <= newest; ++g) {
      if (poisoned[g - 1]) {
        all.add({g, g, true});
      }
    }
    for (std::uint32_t g = 1; g <= newest; ++g) {
      const run r = all.around(g, newest);
      EXPECT_TRUE(r.holds(g));
      EXPECT_EQ(r.poisoned, poisoned[g - 1]);
      for (std::uint32_t i = r.from; i <= r.to; ++i) {
        EXPECT_EQ(poisoned[i - 1], r.poisoned);
      }
      EXPECT_TRUE(r.from == 1 || poisoned[r.from - 2] != r.poisoned);
      EXPECT_TRUE(r.to == newest || poisoned[r.to] != r.poisoned);
    }
  }
}

TEST(ring, keeps_the_order_of_what_is_joined) {
  waiter all[5];
  for (waiter& w : all) {
    w.fire = [](waiter&) noexcept {};
  }
  waiter* first = nullptr;
  waiter* second = nullptr;
  ring::push(first, all[0]);
  ring::push(first, all[1]);
  ring::push(second, all[2]);
  ring::push(second, all[3]);
  ring::push(second, all[4]);
  ring::splice(first, second);
  EXPECT_TRUE(ring::remove(first, all[2]));
  EXPECT_FALSE(ring::remove(first, all[2]));
  ASSERT_EQ(first, &all[4]);
  const waiter* w = first->next;
  for (const std::size_t i : {0u, 1u, 3u, 4u}) {
    EXPECT_EQ(w, &all[i]);
    w = w->next;
  }
  EXPECT_EQ(w, first->next);
}

}  // namespace
}  // namespace sinew::event
