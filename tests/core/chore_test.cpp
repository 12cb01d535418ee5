// SPDX-License-Identifier: BSD-3-Clause
// Chores that are told of sleeps.
#include "gtest/gtest.h"
#include "pair_of_ranks.hpp"

namespace sinew::core {
namespace {

/// Refuses the first sleeps; then its condition comes true in a sleep that it has agreed to.
struct refusing {
  static constexpr int refused = 3;
  int begun = 0;
  int ended = 0;
  std::uint64_t slept_before = 0;
  runtime* in = nullptr;

  static bool sleep(void* self, bool begins) {
    auto& c = *static_cast<refusing*>(self);
    c.ended += begins ? 0 : 1;
    c.begun += begins ? 1 : 0;
    if (begins && c.begun == refused + 1) {
      c.slept_before = c.in->sleeps();
    }
    return c.begun > refused;
  }
};

TEST(chore, that_refuses_sleeps_is_asked_again) {
  for (const threading threads : {threading::one, threading::many}) {
    pair_of_ranks job(1, threads);
    refusing c;
    c.in = job[0].own.get();
    const int which =
        c.in->add_chore([](void*) { return 0; }, &c, chore_place::in_calls, refusing::sleep);
    c.in->want_chore(which, true);
    c.in->wait_until([](void* of) { return static_cast<refusing*>(of)->ended > refusing::refused; },
                     &c);
    EXPECT_EQ(c.begun, c.ended);
    EXPECT_EQ(c.slept_before, 0U) << "it slept although it was refused";
    EXPECT_GT(c.in->sleeps(), 0U);
    c.in->drop_chore(which);
  }
}

}  // namespace
}  // namespace sinew::core
