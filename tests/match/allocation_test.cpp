// No engine allocates once warm. The counting operator new is this program's own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "sinew/match/engine.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
// Not inlined: gcc would take free() beside a new-expression for a mismatch.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace sinew::match {
namespace {

class no_allocation : public ::testing::TestWithParam<const char*> {};

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
  const std::size_t before = allocations.load();
  for (int i = 0; i < 5; ++i) round(*e, r, m);
  EXPECT_EQ(allocations.load() - before, 0u);
  EXPECT_EQ(e->posted() + e->unexpected(), 0u);
}

TEST_P(no_allocation, when_shallow_not_even_cold) {
  const auto e = make_engine(GetParam());
  std::vector<receive> r(8);
  std::vector<message> m(8);
  const std::size_t before = allocations.load();
  round(*e, r, m);
  EXPECT_EQ(allocations.load() - before, 0u);
}

INSTANTIATE_TEST_SUITE_P(engines, no_allocation, ::testing::Values("list", "hash"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace sinew::match
