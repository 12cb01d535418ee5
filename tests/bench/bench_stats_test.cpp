// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../../tools/sinew/bench/results_json.hpp"
#include "../../tools/sinew/bench/stats.hpp"

namespace stats = sinew::tool::stats;

TEST(words, a_separator_at_the_end_ends_the_last_part) {
  using parts = std::vector<std::string>;
  EXPECT_EQ(stats::split("", ','), parts{});
  EXPECT_EQ(stats::split(",", ','), parts{""});
  EXPECT_EQ(stats::split("a,,b", ','), (parts{"a", "", "b"}));
  EXPECT_EQ(stats::split("a,,", ','), (parts{"a", ""}));
  EXPECT_EQ(stats::parse_number("1e3"), 1000);
  EXPECT_FALSE(stats::parse_number("inf"));
  EXPECT_FALSE(stats::parse_number("1 "));
}

TEST(summary, of_nothing_is_zero) {
  const auto s = stats::summarise(std::vector<double>{});
  EXPECT_EQ(s.n, 0u);
  EXPECT_EQ(s.median, 0);
}

TEST(summary, odd_and_even_counts) {
  const auto odd = stats::summarise(std::vector<double>{5, 1, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.mad, 2);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 5);
  EXPECT_EQ(stats::summarise(std::vector<double>{4, 1, 2, 3}).median, 2.5);
}

TEST(summary, one_outlier_moves_neither_median_nor_mad) {
  const auto s = stats::summarise(std::vector<double>{10, 11, 9, 10, 100000});
  EXPECT_EQ(s.median, 10);
  EXPECT_EQ(s.mad, 1);
  EXPECT_EQ(s.max, 100000);
}

TEST(lines, reads_what_programs_print) {
  const auto m = stats::parse_line("@ one-way latency ns bytes=8,thread=multiple 189.25\n");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->case_name, "one-way");
  EXPECT_EQ(m->metric, "latency");
  EXPECT_EQ(m->unit, "ns");
  EXPECT_EQ(m->value, 189.25);
  const stats::parameters expected = {{"bytes", "8"}, {"thread", "multiple"}};
  EXPECT_EQ(m->params, expected);
  EXPECT_TRUE(stats::parse_line("@ fork-exec time ms - 1e-3"));
}

TEST(lines, a_sample_carries_the_trip_of_a_line) {
  const auto m = stats::parse_line("@ one-way latency ns bytes=8 189.25 line=28.5");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->line_ns, 28.5);
  EXPECT_EQ(stats::parse_line("@ one-way latency ns bytes=8 189.25")->line_ns, 0);
  for (const char* line : {"@ a b c - 1 line=", "@ a b c - 1 line=x", "@ a b c - 1 trip=2",
                           "@ a b c - 1 line=-1", "@ a b c - 1 line=1 2"}) {
    EXPECT_FALSE(stats::parse_line(line)) << line;
  }
}

TEST(lines, refuses_anything_else) {
  for (const char* line :
       {"", "@", "@ ", "hello", "@ a b c d", "@ a b c d=1 x", "@ a b c d=1 1 2", "@ a b c =1 1",
        "@ a b c word 1", "@ a b c - nan", "@ a b c - inf", "@ a b c - 1x", " @ a b c - 1"}) {
    EXPECT_FALSE(stats::parse_line(line)) << line;
  }
}

namespace {

stats::row_key key_of(const std::string& metric, const std::string& bytes = "8") {
  return {"latency", "one-way", {{"bytes", bytes}}, metric, "ns"};
}

}  // namespace

TEST(results, rows_keep_their_order_and_collect_subjects) {
  stats::result_set results;
  results.add(key_of("latency", "64"), "sinew", 2);
  results.add(key_of("latency", "8"), "sinew", 1);
  results.add(key_of("latency", "64"), "mpich", 4);
  results.add(key_of("latency", "64"), "sinew", 6);
  ASSERT_EQ(results.rows().size(), 2u);
  EXPECT_EQ(results.rows()[0].key.params[0].second, "64");
  EXPECT_EQ(results.median("latency", "one-way", {{"bytes", "64"}}, "sinew"), 4);
  EXPECT_FALSE(results.median("latency", "one-way", {{"bytes", "8"}}, "mpich"));
}

// `coarray` tells the time and the bandwidth of the same puts.
TEST(results, rows_of_one_case_are_told_apart_by_their_metric) {
  stats::result_set results;
  results.add(key_of("latency"), "sinew", 3);
  results.add(key_of("bandwidth"), "sinew", 50);
  EXPECT_EQ(results.median(key_of("bandwidth"), "sinew"), 50);
  EXPECT_EQ(stats::median_in(results.rows()[1], "sinew"), 50);
  EXPECT_FALSE(results.median(key_of("bandwidth"), "mpich"));
  EXPECT_FALSE(results.median(key_of("rate"), "sinew"));
}

TEST(results, best_peer_knows_the_direction) {
  stats::result_set results;
  for (const char* metric : {"latency", "rate"}) {
    results.add(key_of(metric), "sinew", 100);
    results.add(key_of(metric), "floor", 1000);
    results.add(key_of(metric), "paper:theirs", metric[0] == 'l' ? 1 : 2000);
    EXPECT_FALSE(stats::best_peer(results.rows().back(), "sinew"));
    results.add(key_of(metric), "mpich", 3);
    results.add(key_of(metric), "openmpi", 7);
  }
  EXPECT_EQ(stats::best_peer(results.rows()[0], "sinew"), std::pair(std::string("mpich"), 3.0));
  EXPECT_EQ(stats::best_peer(results.rows()[1], "sinew"), std::pair(std::string("openmpi"), 7.0));
}

TEST(results, net_ratio_takes_the_floor_from_both) {
  EXPECT_EQ(stats::net_ratio(14, 34, 4), 10.0 / 30.0);
  EXPECT_EQ(stats::net_ratio(14, 34, 0), 14.0 / 34.0);
  EXPECT_FALSE(stats::net_ratio(4, 34, 4));
  EXPECT_FALSE(stats::net_ratio(14, 3, 4));
}

TEST(json, numbers_are_short) {
  EXPECT_EQ(stats::json_number(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(stats::json_number(0.25), "0.25");
}

TEST(json, numbers_stay_numbers_in_parameters) {
  EXPECT_EQ(stats::json_parameters({}), "{}");
  EXPECT_EQ(stats::json_parameters({{"bytes", "4096"}, {"kind", "pair"}}),
            "{\"bytes\":4096,\"kind\":\"pair\"}");
}

TEST(json, one_object_for_each_row_and_subject) {
  stats::result_set results;
  results.add(key_of("latency"), "sinew", stats::sample{1, 0, 29.5});
  results.add(key_of("latency"), "sinew", stats::sample{3, 1, 0});
  EXPECT_EQ(stats::json_results(results),
            "[\n {\"experiment\":\"latency\",\"case\":\"one-way\",\"params\":{\"bytes\":8},"
            "\"subject\":\"sinew\",\"metric\":\"latency\",\"unit\":\"ns\",\"n\":2,\"median\":2,"
            "\"mad\":1,\"min\":1,\"max\":3,\"interval\":[1,3],\"samples\":{\"start\":[0,1],"
            "\"value\":[1,3],\"line_ns\":[29.5,0]}}\n]");
  EXPECT_EQ(stats::json_results({}), "[\n]");
}

TEST(json, the_papers_figures_are_of_the_subject_paper) {
  stats::result_set results;
  results.add(key_of("latency"), "paper:fult", 1.5);
  const std::string text = stats::json_results(results);
  EXPECT_NE(text.find("\"params\":{\"series\":\"fult\",\"bytes\":8},\"subject\":\"paper\","),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("samples"), std::string::npos) << text;
}

TEST(json, an_engine_is_a_parameter_of_ours) {
  stats::result_set results;
  results.add(key_of("latency"), "sinew:list", 1);
  const std::string text = stats::json_results(results);
  EXPECT_NE(text.find("\"params\":{\"engine\":\"list\",\"bytes\":8},\"subject\":\"sinew\","),
            std::string::npos)
      << text;
}

TEST(table, numbers_have_three_digits) {
  EXPECT_EQ(stats::short_number(0), "0.00");
  EXPECT_EQ(stats::short_number(187.4), "187");
  EXPECT_EQ(stats::short_number(16402030), "16402030");
  EXPECT_EQ(stats::short_number(99.96), "100");
  EXPECT_EQ(stats::short_number(12.345), "12.3");
  EXPECT_EQ(stats::short_number(1.519), "1.52");
  EXPECT_EQ(stats::short_number(0.0312), "0.031");
}

TEST(table, columns_align_whatever_the_bytes) {
  EXPECT_EQ(stats::render_table({{"a", "x"}, {"long", "1 ±2"}, {"b"}}),
            "a        x\n----------\nlong  1 ±2\nb\n");
  EXPECT_EQ(stats::render_table({}), "");
}

TEST(failures, the_last_line_that_says_something) {
  EXPECT_EQ(stats::last_line(""), "");
  EXPECT_EQ(stats::last_line("one\ntwo  \n-------\n\n"), "two");
  EXPECT_EQ(stats::last_line("abcdef", 3), "abc...");
}
