// SPDX-License-Identifier: BSD-3-Clause
#include "contract/match_contract.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"

namespace sinew::match::contract {

INSTANTIATE_TEST_SUITE_P(engines, match_contract, ::testing::ValuesIn(engine_names()),
                         [](const auto& p) { return std::string(p.param); });

TEST(make_engine, refuses_an_unknown_name_and_lists_the_known) {
  try {
    (void)make_engine("tree");
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("hash, list, bins64"), std::string::npos) << e.what();
  }
}

TEST(engine_choices, are_all_that_can_be_made) {
  const std::vector<std::string> choices = base::split(engine_choices(), '|');
  std::vector<std::string> known(engine_names().begin(), engine_names().end());
  known.emplace_back(exact_engine);
  EXPECT_EQ(choices, known);
  for (const std::string& name : choices) {
    EXPECT_EQ(make_engine(name)->name(), name);
  }
}

TEST(exact_engine, refuses_wildcards_and_says_why) {
  const auto e = make_engine(exact_engine);
  const auto refusal = [](auto&& call) -> std::string {
    try {
      call();
      return "";
    } catch (const error& refused) {
      return refused.what();
    }
  };
  for (const envelope wild : {envelope{any_source, 1}, envelope{1, any_tag}}) {
    receive r{wild, {}};
    EXPECT_NE(refusal([&] { (void)e->post(r); }).find("\"table\""), std::string::npos);
    EXPECT_NE(refusal([&] { (void)e->peek(wild); }).find("\"table\""), std::string::npos);
    EXPECT_NE(refusal([&] { (void)e->take(wild); }).find("\"table\""), std::string::npos);
  }
  EXPECT_EQ(e->posted(), 0u);
}

TEST(exact_engine, does_not_take_over_wildcards_that_wait) {
  const auto from = make_engine("hash");
  const auto to = make_engine(exact_engine);
  receive exact{{1, 2}, {}};
  receive wild{{any_source, 3}, {}};
  EXPECT_EQ(from->post(exact), nullptr);
  EXPECT_EQ(from->post(wild), nullptr);
  EXPECT_THROW(move_entries(*from, *to), error);
  EXPECT_EQ(from->posted(), 2u);
  EXPECT_EQ(to->posted(), 0u);
  EXPECT_TRUE(from->cancel(wild));
  move_entries(*from, *to);
  message m{{1, 2}, {}};
  EXPECT_EQ(to->arrive(m), &exact);
}

}  // namespace sinew::match::contract
