// No engine allocates once warm.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sinew/match/engine.hpp"
#include "support/allocations.hpp"

namespace sinew::match {
namespace {

class no_allocation : public ::testing::TestWithParam<std::string_view> {};

/// Fills one side, empties it by the other in a scattered order, wildcards now and then.
void round(engine& e, std::vector<receive>& r, std::vector<message>& m) {
  const std::size_t n = r.size();
  for (std::size_t i = 0; i < n; ++i) {
    r[i].wanted = {1, static_cast<std::int32_t>(i)};
    m[i].sent = r[i].wanted;
    if (i % 16 == 0) r[i].wanted.source = any_source;
  }
  for (receive& x : r) (void)e.post(x);
  for (std::size_t i = 0; i < n; ++i) (void)e.arrive(m[i * 7 % n]);
  for (message& x : m) (void)e.arrive(x);
  (void)e.peek({any_source, any_tag});
  for (std::size_t i = 0; i < n; ++i) (void)e.post(r[i * 7 % n]);
}

TEST_P(no_allocation, once_warm) {
  const auto e = make_engine(GetParam());
  std::vector<receive> r(1000);
  std::vector<message> m(1000);
  round(*e, r, m);
  round(*e, r, m);
  const long before = test::allocations;
  for (int i = 0; i < 5; ++i) round(*e, r, m);
  EXPECT_EQ(test::allocations - before, 0);
  EXPECT_EQ(e->posted() + e->unexpected(), 0u);
}

TEST_P(no_allocation, when_shallow_not_even_cold) {
  const auto e = make_engine(GetParam());
  std::vector<receive> r(8);
  std::vector<message> m(8);
  const long before = test::allocations;
  round(*e, r, m);
  EXPECT_EQ(test::allocations - before, 0);
}

INSTANTIATE_TEST_SUITE_P(engines, no_allocation, ::testing::ValuesIn(engine_names()),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace sinew::match
