// SPDX-License-Identifier: BSD-3-Clause
// Figures, pictures and files of results: what `sinew report` and `sinew bench compare` are made
// of.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "sinew/bench/compare.hpp"
#include "sinew/bench/results_file.hpp"
#include "sinew/bench/results_json.hpp"
#include "sinew/report/figure.hpp"
#include "sinew/report/svg.hpp"

using namespace sinew::tool;

namespace {

constexpr const char* pool_figure = R"(
# a comment
figure: pool
system: Threads
title: A pool
rows: burst latency
where: method=paper
lines: kind
subjects: sinew mpich
x: threads log2 N threads
y: linear 0.001 Latency (usec)
limits: x 1 16, y 0 0.5
repeat: sinew bench pool
)";

stats::row_key key_of(stats::parameters params) {
  return {"pool", "burst", std::move(params), "latency", "ns"};
}

std::string document(const stats::result_set& results) {
  return R"({"schema":2,"host":{"cpu":"x"},"run":{"commit":"c"},"results":)" +
         stats::json_results(results) + "}";
}

// 11 starts of ten samples each.
void measure(stats::result_set& to, const std::string& subject, double ns, std::uint64_t seed) {
  sinew::random_generator random(seed);
  for (int i = 0; i < 110; ++i) {
    to.add(key_of({{"threads", "1"}}), subject, {ns * (0.95 + 0.1 * random.unit()), i / 10, 28});
  }
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

TEST(figures, are_read) {
  const auto all = parse_figures(pool_figure, "f", "pool");
  ASSERT_EQ(all.size(), 1u);
  const figure& f = all[0];
  EXPECT_EQ(f.name, "pool");
  EXPECT_EQ(f.x.label, "N threads");
  EXPECT_EQ(f.x.kind, scale_kind::log2);
  EXPECT_EQ(f.y_scale, 0.001);
  EXPECT_EQ(f.y.high, 0.5);
  EXPECT_TRUE(f.has(key_of({{"threads", "4"}, {"method", "paper"}})));
  EXPECT_FALSE(f.has(key_of({{"threads", "4"}, {"method", "steady"}})));
  EXPECT_FALSE(f.has(key_of({{"method", "paper"}})));
  EXPECT_EQ(f.line_of(key_of({{"threads", "4"}, {"kind", "a"}})), "kind=a");
  EXPECT_EQ(f.x_of(key_of({{"threads", "4"}})), "4");
}

TEST(figures, may_ask_for_rows_without_a_parameter) {
  std::string text = pool_figure;
  text.replace(text.find("method=paper"), 12, "offset=");
  const figure f = parse_figures(text, "f", "pool").at(0);
  EXPECT_TRUE(f.has(key_of({{"threads", "4"}})));
  EXPECT_FALSE(f.has(key_of({{"threads", "4"}, {"offset", "16"}})));
}

TEST(figures, the_case_may_be_the_place) {
  figure f;
  f.x_parameter = "case";
  EXPECT_EQ(f.x_of({"chunks", "overlap-21", {}, "", ""}), "21");
}

TEST(figures, malformed_ones_are_refused_with_their_line) {
  const std::string good = pool_figure;
  for (const char* wrong :
       {"nonsense", "colour: red", "x: threads", "x: threads log3 N", "y: linear x Label",
        "limits: z 1 2", "limits: x 2 1", "rows: one", "where: =1"}) {
    try {
      (void)parse_figures(good + wrong + "\n", "f", "pool");
      ADD_FAILURE() << wrong;
    } catch (const sinew::error& e) {
      EXPECT_EQ(e.problem(), "f:14 is malformed") << wrong;
    }
  }
  EXPECT_THROW((void)parse_figures("title: x\n", "f", "pool"), sinew::error);
  EXPECT_THROW((void)parse_figures("figure: x\n", "f", "pool"), sinew::error);
}

TEST(figures, have_every_published_number_in_one_of_them) {
  const std::filesystem::path bench = SINEW_BENCH_SOURCES;
  const std::vector<figure> all = all_figures(bench);
  ASSERT_GT(all.size(), 40u);
  std::set<std::string> names;
  for (const figure& f : all) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name << " twice";
    EXPECT_TRUE(std::filesystem::exists(bench / f.experiment / "experiment.cpp"));
    EXPECT_TRUE(f.repeat.starts_with("sinew bench " + f.experiment)) << f.name;
    EXPECT_FALSE(f.differs.empty()) << f.name;
  }
  std::size_t numbers = 0;
  for (const auto& folder : std::filesystem::directory_iterator(bench)) {
    const std::string experiment = folder.path().filename();
    std::ifstream in(folder.path() / "paper.txt");
    for (std::string line; std::getline(in, line);) {
      const auto m =
          line.starts_with("#")
              ? std::nullopt
              : stats::parse_line("@" + line.substr(std::min(line.find(' '), line.size())));
      if (!m) {
        EXPECT_TRUE(line.empty() || line.front() == '#') << experiment << ": " << line;
        continue;
      }
      ++numbers;
      const stats::row_key key{experiment, m->case_name, m->params, m->metric, m->unit};
      EXPECT_TRUE(
          std::any_of(all.begin(), all.end(), [&key](const figure& f) { return f.has(key); }))
          << experiment << ": " << line;
    }
  }
  EXPECT_GT(numbers, 500u);
}

TEST(ticks, are_round_and_within) {
  for (const auto kind : {scale_kind::linear, scale_kind::log2, scale_kind::log10}) {
    for (const auto& [low, high] :
         {std::pair{1.0, 16384.0}, {0.01, 0.02}, {3.0, 5.0}, {1.0, 1e9}}) {
      const auto all = ticks_of(kind, low, high);
      EXPECT_GE(all.size(), 2u);
      EXPECT_LE(all.size(), 12u);
      for (const tick& t : all) {
        EXPECT_GE(t.at, low * 0.999999);
        EXPECT_LE(t.at, high * 1.000001);
      }
    }
  }
  EXPECT_EQ(ticks_of(scale_kind::log2, 1, 4)[2].text, "4");
  EXPECT_EQ(ticks_of(scale_kind::log2, 1, 1 << 20).back().text, "256Ki");
}

TEST(pictures, have_what_a_screen_reader_and_a_printer_need) {
  plot p;
  p.name = "pool";
  p.title = "A <pool> & more";
  p.description = "text";
  p.x = {scale_kind::log2, "N", 1, 16};
  p.y = {scale_kind::log10, "us", {}, {}};
  using role = plot_line::role;
  p.lines = {{"Sinew", role::ours, 0, {{1, 2, 1.5, 2.5}, {4, 3, 3, 3}}},
             {"mpich", role::peer, 1, {{1, 4, 3.5, 4.5}, {64, 5, 5, 5}}},
             {"paper: x", role::paper, 2, {{1, 0, 0, 0}, {2, 7, 7, 7}}},
             {"floor", role::floor, 3, {{1, 1, 1, 1}}}};
  const std::string svg = svg_of(p);
  EXPECT_NE(svg.find("role=\"img\" aria-labelledby=\"pool-title pool-text\""), std::string::npos);
  EXPECT_NE(svg.find("A &lt;pool&gt; &amp; more"), std::string::npos);
  EXPECT_EQ(count(svg, "<polyline"), 4u);
  EXPECT_EQ(count(svg, "<polygon"), 2u);  // bands of those that have intervals
  EXPECT_NE(svg.find("fill=\"white\" stroke"), std::string::npos);  // the paper's open markers
  EXPECT_EQ(count(svg, ">64<"), 1u);  // what was measured beyond the published axis is shown
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(svg, svg_of(p));
}

TEST(pictures, of_nothing_are_sound) {
  plot p;
  p.name = "empty";
  for (const auto kind : {scale_kind::linear, scale_kind::log2, scale_kind::words}) {
    p.x.kind = kind;
    EXPECT_EQ(svg_of(p).find("nan"), std::string::npos);
  }
}

TEST(files, come_back_as_they_were_written) {
  stats::result_set results;
  results.add(key_of({{"threads", "4"}}), "sinew:hash", {1.5, 0, 28});
  results.add(key_of({{"threads", "4"}}), "sinew:hash", {2.5, 1, 0});
  results.add(key_of({{"threads", "4"}}), "paper:fult", 9);
  const results_file file = parse_results(document(results), "f");
  ASSERT_EQ(file.results.rows().size(), 1u);
  const stats::row& r = file.results.rows()[0];
  EXPECT_EQ(r.key, key_of({{"threads", "4"}}));
  ASSERT_EQ(r.samples.at("sinew:hash").size(), 2u);
  EXPECT_EQ(r.samples.at("sinew:hash")[0].line_ns, 28);
  EXPECT_EQ(r.samples.at("sinew:hash")[1].start, 1);
  EXPECT_EQ(stats::median_in(r, "paper:fult"), 9);
  EXPECT_EQ(fact(file.host, "cpu"), "x");
  EXPECT_EQ(fact(file.run, "commit"), "c");
  EXPECT_EQ(fact(file.run, "missing"), "");
}

TEST(files, of_schema_1_have_medians) {
  const results_file file = parse_results(
      R"({"schema":1,"host":{},"results":[{"experiment":"e","case":"c","params":{"engine":"list",
      "bytes":8},"subject":"sinew","metric":"m","unit":"u","n":3,"median":7,"mad":1,"min":6,
      "max":9}]})",
      "f");
  EXPECT_EQ(stats::median_in(file.results.rows().at(0), "sinew:list"), 7);
}

TEST(files, others_are_refused) {
  for (const char* text :
       {"", "{}", R"({"schema":3,"host":{},"results":[]})", R"({"schema":2,"host":{}})",
        R"({"schema":2,"host":{},"results":[{"experiment":"e"}]})"}) {
    EXPECT_THROW((void)parse_results(text, "f"), sinew::error) << text;
  }
  EXPECT_THROW((void)read_results("/no/such/file"), sinew::error);
}

TEST(comparison, finds_what_changed_and_nothing_else) {
  stats::result_set before, after;
  measure(before, "sinew", 100, 1);
  measure(after, "sinew", 80, 2);
  measure(before, "mpich", 300, 3);
  measure(after, "mpich", 300, 4);
  const auto changes =
      compare(parse_results(document(before), "a"), parse_results(document(after), "b"));
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].subject, "mpich");
  EXPECT_EQ(changes[0].what, change::verdict::same);
  EXPECT_EQ(changes[1].what, change::verdict::better);
  EXPECT_LE(changes[1].ratio.low, 0.8);
  EXPECT_GE(changes[1].ratio.high, 0.8);
  EXPECT_NE(comparison_text(changes, false).find("1 better, 0 worse, 1 not"), std::string::npos);
  EXPECT_EQ(comparison_text(changes, false).find("mpich"), std::string::npos);
  EXPECT_NE(comparison_text(changes, true).find("mpich"), std::string::npos);
}

TEST(svg, long_labels_stand_below_each_other) {
  plot p;
  p.name = "a";
  p.lines = {{"one", plot_line::role::ours, 0, {{0, 1, 1, 1}}},
             {"two", plot_line::role::peer, 1, {{0, 2, 2, 2}}}};
  const std::string beside = svg_of(p);
  p.lines[1].label = std::string(60, 'm');
  const std::string below = svg_of(p);
  EXPECT_NE(beside.find("viewBox=\"0 0 640 360\""), std::string::npos) << beside;
  EXPECT_NE(below.find("viewBox=\"0 0 640 380\""), std::string::npos) << below;
}
