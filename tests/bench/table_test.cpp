// SPDX-License-Identifier: BSD-3-Clause
// The table of `sinew bench` from measurements made here.
#include <gtest/gtest.h>

#include "sinew/bench/report.hpp"

namespace stats = sinew::tool::stats;
namespace tool = sinew::tool;

// In the place of the tool's own, which starts programs.
std::vector<tool::command> tool::runner::floors(const experiment&, const request&) const {
  return {};
}

namespace {

class no_runner final : public tool::runner {
 public:
  [[nodiscard]] std::vector<tool::subject> subjects(const tool::experiment&,
                                                    const tool::machine&) const override {
    return {};
  }
  [[nodiscard]] std::optional<tool::command> prepare(const tool::experiment&, const tool::subject&,
                                                     const tool::start&,
                                                     std::string&) const override {
    return {};
  }
};

const no_runner nobody;
const tool::experiment pages{
    .name = "pages", .about = "", .by = nobody, .starts = [](const tool::request&) {
      return std::vector<tool::start>{};
    }};

/// 11 starts of a subject around `middle`, which differ by `spread` of it in all.
void add(stats::result_set& to, const char* metric, const char* subject, double middle,
         double spread = 0.02) {
  for (int start = 0; start < 11; ++start) {
    to.add({"pages", "copy", {{"bytes", "4096"}}, metric, "us"}, subject,
           stats::sample{middle * (1 + spread * (start - 5) / 10), start, 0});
  }
}

std::string table_of(const stats::result_set& results) {
  return tool::experiment_table(pages, results, {}, {"sinew", "mpich"});
}

}  // namespace

TEST(table_of_an_experiment, who_is_faster_than_the_floor_is_remarked) {
  stats::result_set results;
  add(results, "latency", "sinew", 0.9);
  add(results, "latency", "mpich", 2);
  add(results, "latency", "floor", 1);
  const std::string table = table_of(results);
  EXPECT_NE(table.find("0.90x"), std::string::npos) << table;
  EXPECT_NE(table.find("faster than its floor: copy bytes=4096 latency, sinew"), std::string::npos)
      << table;
  EXPECT_EQ(table.find("latency, mpich"), std::string::npos) << table;
}

TEST(table_of_an_experiment, of_a_bandwidth_more_is_faster) {
  stats::result_set results;
  add(results, "bandwidth", "sinew", 9);
  add(results, "bandwidth", "mpich", 11);
  add(results, "bandwidth", "floor", 10);
  const std::string table = table_of(results);
  EXPECT_NE(table.find("faster than its floor: copy bytes=4096 bandwidth, mpich"),
            std::string::npos)
      << table;
  EXPECT_EQ(table.find("bandwidth, sinew"), std::string::npos) << table;
}

TEST(table_of_an_experiment, who_may_be_slower_than_the_floor_is_not_remarked) {
  stats::result_set results;
  add(results, "latency", "sinew", 0.98, 0.2);
  add(results, "latency", "floor", 1);
  const std::string table = table_of(results);
  EXPECT_EQ(table.find("faster than"), std::string::npos) << table;
}

TEST(table_of_an_experiment, a_row_too_noisy_has_a_sentence_in_the_numbers_place) {
  stats::result_set results;
  add(results, "latency", "sinew", 1, 1.9);
  add(results, "latency", "mpich", 2);
  const std::string table = table_of(results);
  EXPECT_NE(table.find("noisy: copy bytes=4096 latency, sinew: median 1"), std::string::npos)
      << table;
  EXPECT_EQ(table.find("0.50x"), std::string::npos) << table;
}
