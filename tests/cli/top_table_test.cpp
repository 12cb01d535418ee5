// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/top_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sinew::tool {
namespace {

constexpr std::int64_t s = 1'000'000'000;

numbered_rank rank_at(int rank, const std::string& host, std::int64_t at_ns) {
  numbered_rank made{.rank = rank, .host = host, .process = 100 + rank};
  made.numbers.at_ns = at_ns;
  made.numbers.counts_calls = true;
  made.numbers.memory_bytes = 1 << 20;
  return made;
}

/// Two seconds apart: rank 0 computes and sends, rank 1 waits in a call that began long before.
std::vector<rank_rates> two_ranks() {
  std::vector<numbered_rank> before{rank_at(0, "h1", s), rank_at(1, "h2", 5 * s)};
  std::vector<numbered_rank> now{rank_at(0, "h1", 3 * s), rank_at(1, "h2", 7 * s)};
  now[0].numbers.processor_ns = 2 * s;
  now[0].numbers.calls = 2000;
  now[0].numbers.messages = 1000;
  now[0].numbers.sent_bytes = 4 << 20;
  now[0].numbers.in_calls_ns = s / 2;
  now[0].numbers.last_call = "MPI_Send";
  now[1].numbers.waits_ns = 60 * s;
  return rates_between(before, now);
}

TEST(RankNumbers, LinesComeBackAsTheyWere) {
  numbered_rank of = rank_at(7, "node-1", 12345);
  of.numbers.waits_ns = 5;
  of.numbers.received_bytes = INT64_MAX;
  of.numbers.last_call = "MPI_Bcast";
  for (const std::string& call : {std::string("MPI_Bcast"), std::string()}) {
    of.numbers.last_call = call;
    const auto read = numbered_rank::of_line(of.line());
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->line(), of.line());
    EXPECT_EQ(read->numbers.last_call, call);
    EXPECT_EQ(read->host, "node-1");
    EXPECT_EQ(read->numbers.received_bytes, INT64_MAX);
  }
}

TEST(RankNumbers, WhatIsNoLineIsNotRead) {
  const std::string good = rank_at(7, "h", 1).line();
  for (std::size_t end = 0; end < good.size() - 1; ++end) {
    EXPECT_FALSE(numbered_rank::of_line(good.substr(0, end)).has_value()) << end;
  }
  EXPECT_FALSE(numbered_rank::of_line("7 h x " + good.substr(8)).has_value());
  EXPECT_FALSE(rank_numbers::of_line("").has_value());
}

TEST(TopTable, RatesAreBySecond) {
  const std::vector<rank_rates> rates = two_ranks();
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_DOUBLE_EQ(rates[0].processor, 1);
  EXPECT_DOUBLE_EQ(rates[0].calls, 1000);
  EXPECT_DOUBLE_EQ(rates[0].messages, 500);
  EXPECT_DOUBLE_EQ(rates[0].sent_bytes, 2 << 20);
  EXPECT_DOUBLE_EQ(rates[0].in_calls, 0.25);
  EXPECT_DOUBLE_EQ(rates[1].in_calls, 1);  // a call that began before anybody looked
}

TEST(TopTable, ARankThatIsNewOrHasAnotherProcessHasNoRates) {
  std::vector<numbered_rank> now{rank_at(0, "h", s), rank_at(1, "h", s)};
  std::vector<numbered_rank> before = now;
  before[1].process = 9;
  ASSERT_EQ(rates_between(before, now).size(), 1U);
  EXPECT_EQ(rates_between(before, now).front().rank, 0);
  EXPECT_TRUE(rates_between({}, now).empty());
}

TEST(TopTable, WithoutCountsNoShareOfCallsIsTold) {
  std::vector<numbered_rank> before{rank_at(0, "h", s)};
  std::vector<numbered_rank> now{rank_at(0, "h", 2 * s)};
  now[0].numbers.counts_calls = false;
  const auto rates = rates_between(before, now);
  EXPECT_LT(rates.front().in_calls, 0);
  EXPECT_EQ(top_json(rates, 1).find("in_mpi"), std::string::npos);
  EXPECT_EQ(top_table(rates, {}).find("in MPI,"), std::string::npos);
}

TEST(TopTable, RanksAndHosts) {
  EXPECT_EQ(
      top_table(two_ranks(), {}),
      "2 ranks on 2 hosts: 1.0 processors in use, 62 % in MPI, 500 messages/s, 2 MiB/s sent, "
      "2 MiB of memory\n"
      "  rank  host    cpu  in MPI  calls/s  messages/s  sent/s  received/s  memory\n"
      "     0  h1    100 %    25 %     1.0k         500   2 MiB         0 B   1 MiB  MPI_Send\n"
      "     1  h2      0 %   100 %        0           0     0 B         0 B   1 MiB  "
      "waits for 60 s\n");
  const std::vector<rank_rates> hosts = sums_by_host(two_ranks());
  ASSERT_EQ(hosts.size(), 2U);
  std::vector<rank_rates> same = two_ranks();
  same[1].host = "h1";
  ASSERT_EQ(sums_by_host(same).size(), 1U);
  EXPECT_EQ(sums_by_host(same).front().ranks, 2);
  EXPECT_DOUBLE_EQ(sums_by_host(same).front().in_calls, 1.25);
}

TEST(TopTable, OrderAndRoom) {
  std::vector<rank_rates> many(20);
  for (int i = 0; i < 20; ++i) {
    many[static_cast<std::size_t>(i)].rank = i;
    many[static_cast<std::size_t>(i)].host = "h";
    many[static_cast<std::size_t>(i)].memory_bytes = i;
  }
  const std::string text = top_table(many, {.order = top_order::memory, .lines = 5});
  EXPECT_NE(text.find("\n    19  h"), std::string::npos) << text;
  EXPECT_NE(text.find("  and 18 more\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("\n    17  h"), std::string::npos) << text;
  const std::string narrow = top_table(many, {.columns = 20});
  EXPECT_EQ(narrow.find("messages/s\n"), std::string::npos);
}

}  // namespace
}  // namespace sinew::tool
