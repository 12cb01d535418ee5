// SPDX-License-Identifier: BSD-3-Clause
// No engine allocates once warm; and when an allocation fails, nothing has changed.
#include <gtest/gtest.h>

#include <new>
#include <random>
#include <string>
#include <vector>

#include "match/model.hpp"
#include "match/test_lock.hpp"
#include "sinew/match/engine.hpp"
#include "sinew/match/parallel.hpp"
#include "support/allocations.hpp"

namespace sinew::match {
namespace {

class no_allocation : public ::testing::TestWithParam<std::string_view> {};

/// Fills one side, empties it by the other in a scattered order, wildcards now and then.
void round(engine& e, std::vector<receive>& r, std::vector<message>& m) {
  const std::size_t n = r.size();
  for (std::size_t i = 0; i < n; ++i) {
    r[i].wanted = {1, message_tag::of_index(i)};
    m[i].sent = r[i].wanted;
    if (i % 16 == 0) {
      r[i].wanted.source = any_source;
    }
  }
  for (receive& x : r) {
    (void)e.post(x);
  }
  for (std::size_t i = 0; i < n; ++i) {
    (void)e.arrive(m[i * 7 % n]);
  }
  for (message& x : m) {
    (void)e.arrive(x);
  }
  (void)e.peek({any_source, any_tag});
  for (std::size_t i = 0; i < n; ++i) {
    (void)e.post(r[i * 7 % n]);
  }
}

TEST_P(no_allocation, once_warm) {
  const auto e = make_engine(GetParam());
  std::vector<receive> r(1000);
  std::vector<message> m(1000);
  round(*e, r, m);
  round(*e, r, m);
  const long before = sinew::test::allocations;
  for (int i = 0; i < 5; ++i) {
    round(*e, r, m);
  }
  EXPECT_EQ(sinew::test::allocations - before, 0);
  EXPECT_EQ(e->posted() + e->unexpected(), 0u);
}

TEST_P(no_allocation, when_shallow_not_even_cold) {
  const auto e = make_engine(GetParam());
  std::vector<receive> r(8);
  std::vector<message> m(8);
  const long before = sinew::test::allocations;
  round(*e, r, m);
  EXPECT_EQ(sinew::test::allocations - before, 0);
}

class exhaustion : public ::testing::TestWithParam<std::string_view> {};

/// Lets each allocation that `call` makes fail in turn, until it succeeds; returns its answer.
template <class Fn>
auto failing_first(engine& e, long& failures, Fn&& call) {
  for (long nth = 1;; ++nth) {
    const std::size_t posted = e.posted();
    const std::size_t unexpected = e.unexpected();
    sinew::test::fails_at = nth;
    try {
      auto answer = call();
      sinew::test::fails_at = 0;
      return answer;
    } catch (const std::bad_alloc&) {
      sinew::test::fails_at = 0;
      ++failures;
      EXPECT_EQ(e.posted(), posted);
      EXPECT_EQ(e.unexpected(), unexpected);
    }
  }
}

// Deep enough that tables grow several times; wildcards, so that indexes are made.
TEST_P(exhaustion, changes_nothing) {
  constexpr std::size_t steps = 12000;
  const auto e = make_engine(GetParam());
  test::model reference;
  std::vector<receive> r(steps);
  std::vector<message> m(steps);
  std::vector<receive> same_r(steps);
  std::vector<message> same_m(steps);
  std::mt19937 random(3);
  long failures = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const bool filling_receives = i / 3000 % 2 == 0;
    envelope n{comm_rank::of_index(random() % 900 * 300), message_tag::of_index(random() % 50)};
    const auto place = [](const auto* entry, const auto& all) {
      return entry == nullptr ? -1 : entry - all.data();
    };
    if (random() % 10 < (filling_receives ? 8u : 2u)) {
      if (random() % 16 == 0) {
        n.source = any_source;
      }
      if (random() % 16 == 0) {
        n.tag = any_tag;
      }
      r[i].wanted = same_r[i].wanted = n;
      const message* found = failing_first(*e, failures, [&] { return e->post(r[i]); });
      ASSERT_EQ(place(found, m), place(reference.post(same_r[i]), same_m)) << i;
    } else {
      m[i].sent = same_m[i].sent = n;
      const receive* found = failing_first(*e, failures, [&] { return e->arrive(m[i]); });
      ASSERT_EQ(place(found, r), place(reference.arrive(same_m[i]), same_r)) << i;
    }
    ASSERT_EQ(e->posted(), reference.posted());
    ASSERT_EQ(e->unexpected(), reference.unexpected());
  }
  const bool allocates = GetParam() == "hash" || GetParam() == "vector" || GetParam() == "lookup4d";
  EXPECT_EQ(failures > 3, allocates) << failures;
}

// From `hash` to the engine under test and back; each allocation in between fails once.
TEST_P(exhaustion, moving_entries_loses_none) {
  constexpr std::size_t depth = 3000;
  const auto from = make_engine("hash");
  std::vector<receive> r(depth);
  std::vector<message> m(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    r[i].wanted = {i % 5 == 0 ? any_source : comm_rank::of_index(i % 9),
                   message_tag::of_index(i / 4)};
    m[i].sent = {comm_rank::of_index(i % 3), message_tag::of_index(100000 + i / 6)};
    ASSERT_EQ(from->post(r[i]), nullptr);
    ASSERT_EQ(from->arrive(m[i]), nullptr);
  }
  long failures = 0;
  const auto to = failing_first(*from, failures, [&] {
    auto made = make_engine(GetParam());
    move_entries(*from, *made);
    return made;
  });
  EXPECT_GT(failures, 1);
  ASSERT_EQ(from->posted() + from->unexpected(), 0u);
  ASSERT_EQ(to->posted(), depth);
  for (std::size_t i = 0; i < depth; ++i) {
    ASSERT_EQ(to->take({any_source, any_tag}), &m[i]);
  }
  test::model reference;
  std::vector<receive> same(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    same[i].wanted = r[i].wanted;
    (void)reference.post(same[i]);
  }
  for (std::size_t i = depth; i-- > 0;) {
    message sent{{comm_rank::of_index(i % 9), message_tag::of_index(i / 4)}, {}};
    message again{sent.sent, {}};
    const receive* one = to->arrive(sent);
    const receive* other = reference.arrive(again);
    ASSERT_EQ(one == nullptr ? -1 : one - r.data(), other == nullptr ? -1 : other - same.data());
    if (one == nullptr) {
      (void)to->take(sent.sent), (void)reference.take(sent.sent);
    }
  }
}

// Each allocation of a gathering and of a division fails once.
TEST(parallel_exhaustion, changes_nothing) {
  constexpr std::size_t depth = 500;
  parallel_engine<test::refusing_lock> matcher("hash");
  matcher.divide();
  ASSERT_TRUE(matcher.divided());
  std::vector<receive> r(depth);
  std::vector<message> m(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    r[i].wanted = {1, message_tag::of_index(i)};
    m[i].sent = {2, message_tag::of_index(i)};
    ASSERT_EQ(matcher.enter(r[i].wanted).post(r[i]), nullptr);
    ASSERT_EQ(matcher.enter(m[i].sent).arrive(m[i]), nullptr);
  }
  long failures = 0;
  for (long nth = 1; matcher.divided(); ++nth) {
    sinew::test::fails_at = nth;
    try {
      (void)matcher.gathered();
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    sinew::test::fails_at = 0;
    ASSERT_EQ(matcher.posted(), depth);
    ASSERT_EQ(matcher.unexpected(), depth);
  }
  EXPECT_GT(failures, 1);
  for (long nth = 1; !matcher.divided(); ++nth) {
    sinew::test::fails_at = nth;
    matcher.divide();
    sinew::test::fails_at = 0;
    ASSERT_EQ(matcher.posted(), depth);
  }
  const envelope any{any_source, any_tag};
  for (message& x : m) {
    ASSERT_EQ(matcher.enter(any).take(any), &x);  // in the order they came
  }
  for (receive& x : r) {
    message sent{x.wanted, {}};
    ASSERT_EQ(matcher.enter(sent.sent).arrive(sent), &x);
  }
}

INSTANTIATE_TEST_SUITE_P(engines, exhaustion, ::testing::ValuesIn(engine_names()),
                         [](const auto& p) { return std::string(p.param); });

INSTANTIATE_TEST_SUITE_P(engines, no_allocation, ::testing::ValuesIn(engine_names()),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace sinew::match
