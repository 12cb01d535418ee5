// SPDX-License-Identifier: BSD-3-Clause
// A loop of tries is watched like any other wait.
#include "sinew/core/retry.hpp"

#include "gtest/gtest.h"
#include "pair_of_ranks.hpp"
#include "sinew/base/settings.hpp"
#include "support/time.hpp"

namespace sinew::core {
namespace {

TEST(retry_loop, that_does_not_end_is_reported_once) {
  setting_base* const limit = settings::find("SINEW_CORE_HANG_TIMEOUT");
  ASSERT_NE(limit, nullptr);
  limit->parse("3600");
  test::time_by_steps time(second_ns);  // an hour passes while the clock is read 3,600 times
  const time_from here(time);
  pair_of_ranks job(1, threading::one);
  int told = 0;
  job[0].own->set_diagnosis([](void* count) { ++*static_cast<int*>(count); }, &told);
  testing::internal::CaptureStderr();
  retry_loop tries(*job[0].own);
  // Rank 1 takes nothing: the ring is full before long.
  for (int left = 1000; told == 0 || left > 0; left -= told) {
    if (!job[0].own->endpoint().send_short(1, 1, {{0, 0}}, nullptr, 0).done()) {
      tries.again();
    }
  }
  const std::string text = testing::internal::GetCapturedStderr();
  limit->parse(limit->default_text());
  EXPECT_EQ(told, 1);
  EXPECT_NE(text.find("rank 0 has tried for SINEW_CORE_HANG_TIMEOUT to send"), std::string::npos)
      << text;
  job[0].own->set_diagnosis(nullptr, nullptr);
}

}  // namespace
}  // namespace sinew::core
