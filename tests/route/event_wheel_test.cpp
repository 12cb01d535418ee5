// SPDX-License-Identifier: BSD-3-Clause
// The wheel of events beside a sorted queue.
#include "route/event_wheel.hpp"

#include <gtest/gtest.h>

#include <queue>
#include <vector>

#include "sinew/base/random.hpp"

namespace sinew::route {
namespace {

TEST(event_wheel, gives_events_in_order_of_time_and_then_of_arrival) {
  const std::uint64_t seed = seed_from_environment();
  random_generator draw(seed);
  constexpr double horizon = 1e-3;
  for (int round = 0; round < 20; ++round) {
    event_wheel wheel(horizon);
    std::priority_queue<event, std::vector<event>, std::greater<>> sorted;
    std::uint32_t count = 0;
    double now = 0;
    const auto push = [&](double time) {
      wheel.push(time, count);
      sorted.push({time, count, count});
      ++count;
    };
    push(0);
    while (!sorted.empty()) {
      ASSERT_FALSE(wheel.empty());
      const event next = wheel.pop();
      ASSERT_EQ(next.what, sorted.top().what) << "seed " << seed << ", round " << round;
      sorted.pop();
      now = next.time;
      // Now, equally late, within the ring, and far beyond it.
      for (std::uint64_t more = draw.below(count < 3000 ? 4 : 1); more > 0; --more) {
        const double reach[] = {0, horizon / 7, horizon, 50 * horizon};
        push(now + reach[draw.below(4)] * static_cast<double>(draw.below(9)));
      }
    }
    EXPECT_TRUE(wheel.empty());
  }
}

}  // namespace
}  // namespace sinew::route
