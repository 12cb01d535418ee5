// SPDX-License-Identifier: BSD-3-Clause
// Operators: their kernels against a loop.
#include "sinew/region/operators.hpp"

#include <thread>

#include "fixture.hpp"

namespace sinew::region {
namespace {

struct big {
  double most;
  double at[5];
};
struct best {
  using lhs = big;
  using rhs = double;
  static constexpr double identity = -1e300;
  static void apply(big& value, const double& by) noexcept {
    value.most = by > value.most ? by : value.most;
  }
};

TEST(Operators, RunsInSteps) {
  const operator_entry e = entry_of<sum<int>>();
  for (const std::int64_t to_step : {4, 8, 12}) {
    for (const std::int64_t from_step : {4, 16}) {
      std::vector<int> to(60, 100);
      std::vector<int> from(80);
      for (int i = 0; i < 80; ++i) {
        from[static_cast<std::size_t>(i)] = i;
      }
      e.apply({reinterpret_cast<std::byte*>(to.data()), to_step,
               reinterpret_cast<const std::byte*>(from.data()), from_step, 20, sharing::exclusive});
      for (std::size_t i = 0; i < 60; ++i) {
        const std::size_t step = static_cast<std::size_t>(to_step) / 4;
        const bool hit = i % step == 0 && i / step < 20;
        const int by = hit ? static_cast<int>(i / step) * static_cast<int>(from_step) / 4 : 0;
        ASSERT_EQ(to[i], 100 + by);
      }
    }
  }
}

TEST(Operators, WithoutFoldAndLargerThanAWord) {
  const operator_entry e = entry_of<best>();
  EXPECT_EQ(e.fold, nullptr);
  EXPECT_FALSE(e.atomic);
  EXPECT_EQ(e.lhs_bytes, sizeof(big));
  std::vector<big> to(3, big{1, {}});
  const logged<double> log[] = {{2, 5}, {0, 0.5}, {2, 4}, {7, 9}};
  EXPECT_EQ(e.replay({reinterpret_cast<std::byte*>(to.data()), sizeof(big),
                      reinterpret_cast<const std::byte*>(log), 4, 3}),
            1u);
  EXPECT_EQ(to[0].most, 1);
  EXPECT_EQ(to[2].most, 5);
}

TEST(Operators, IdentitiesChangeNothing) {
  const auto check = []<class Op>(Op, std::initializer_list<typename Op::lhs> values) {
    for (const auto value : values) {
      auto changed = value;
      Op::apply(changed, Op::identity);
      EXPECT_EQ(changed, value);
    }
  };
  check(sum<double>{}, {-1.5, 0, 3e300});
  check(product<int>{}, {-3, 0, 7});
  check(minimum<double>{}, {-1e308, 1e308});
  check(minimum<int>{}, {-2147483647 - 1, 2147483647});
  check(maximum<unsigned>{}, {0u, 4294967295u});
  check(maximum<float>{}, {-3e38f, 0.0f});
}

TEST(Operators, AtomicOnesLoseNothing) {
  int whole = 0;
  double part = 0;
  const auto work = [&] {
    for (int i = 0; i < 20000; ++i) {
      apply<sum<int>, sharing::atomic>(whole, 1);
      apply<sum<double>, sharing::atomic>(part, 0.5);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(whole, 40000);
  EXPECT_EQ(part, 20000);
}

}  // namespace
}  // namespace sinew::region
