// SPDX-License-Identifier: BSD-3-Clause
// Deep queues: correct in any order, and for "hash" the number of entries examined depends neither
// on the depth nor on the pattern of the tags.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sinew/match/engine.hpp"

namespace sinew::match {
namespace {

class deep_queues : public ::testing::TestWithParam<std::string_view> {};

TEST_P(deep_queues, drain_in_any_order) {
  constexpr std::size_t depth = 4000;
  const auto e = make_engine(GetParam());
  std::vector<receive> r(depth);
  std::vector<message> m(depth);
  std::vector<std::size_t> order(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    order[i] = i;
    m[i].sent = {comm_rank::of_index(i % 7), message_tag::of_index(i * 64)};
    r[i].wanted = m[i].sent;
    if (i % 5 == 0) {
      r[i].wanted.source = any_source;  // still takes only its own message
    }
  }
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  for (receive& x : r) {
    ASSERT_EQ(e->post(x), nullptr);
  }
  for (std::size_t i : order) {
    ASSERT_EQ(e->arrive(m[i]), &r[i]);
  }
  for (message& x : m) {
    ASSERT_EQ(e->arrive(x), nullptr);
  }
  for (std::size_t i : order) {
    ASSERT_EQ(e->post(r[i]), &m[i]);
  }
  for (receive& x : r) {
    ASSERT_EQ(e->post(x), nullptr);
  }
  for (std::size_t i : order) {
    ASSERT_TRUE(e->cancel(r[i]));
  }
  EXPECT_EQ(e->posted() + e->unexpected(), 0u);
}

INSTANTIATE_TEST_SUITE_P(engines, deep_queues, ::testing::ValuesIn(engine_names()),
                         [](const auto& p) { return std::string(p.param); });

struct pattern {
  std::uint32_t source_stride;
  std::uint32_t tag_stride;
};

class tag_patterns : public ::testing::TestWithParam<pattern> {};

TEST_P(tag_patterns, cost_hash_the_same) {
  constexpr std::size_t depth = 32768;
  const auto [source_stride, tag_stride] = GetParam();
  const auto e = make_engine("hash");
  std::vector<receive> r(depth);
  for (std::uint32_t i = 0; i < depth; ++i) {
    r[i].wanted = {comm_rank::of_index(i * source_stride & 0x7FFFFFFFu),
                   message_tag::of_index(i * tag_stride & 0x7FFFFFFFu)};
    ASSERT_EQ(e->post(r[i]), nullptr);
  }
  message m{};
  for (receive& x : r) {
    m.sent = x.wanted;
    ASSERT_EQ(e->arrive(m), &x);
  }
  EXPECT_LT(e->counts().examined, 2 * depth);
  EXPECT_LT(e->counts().longest, 64u);
}

INSTANTIATE_TEST_SUITE_P(strides, tag_patterns,
                         ::testing::Values(pattern{0, 1}, pattern{0, 64}, pattern{0, 1021},
                                           pattern{0, 1024}, pattern{0, 65536}, pattern{0, 65535},
                                           pattern{1, 0}, pattern{64, 0}, pattern{1021, 0},
                                           pattern{1, 1}, pattern{1, 65536}, pattern{65536, 1},
                                           pattern{1021, 1021}),
                         [](const auto& p) {
                           return std::to_string(p.param.source_stride) + "_" +
                                  std::to_string(p.param.tag_stride);
                         });

}  // namespace
}  // namespace sinew::match
