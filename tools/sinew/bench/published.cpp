// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sinew/bench/report.hpp"
#include "sinew/bench/subjects.hpp"

namespace sinew::tool {

namespace {

bool is_of_nodes(const std::string& experiment_name, const stats::parameters& params) {
  const auto& all = all_experiments();
  return std::any_of(all.begin(), all.end(),
                     [&](const experiment* e) {
                       return e->name == experiment_name && e->hosts == between_hosts::each;
                     }) &&
         !value_of(params, "ranks").empty();
}

}  // namespace

std::vector<std::string> add_published(stats::result_set& results, const std::string& experiment,
                                       bool measured_only) {
  std::vector<std::string> columns;
  const auto sources = bench_sources();
  if (!sources) {
    return columns;
  }
  std::ifstream in(std::filesystem::path(*sources) / experiment / "paper.txt");
  for (std::string line; std::getline(in, line);) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || line.front() == '#') {
      continue;
    }
    const auto m = stats::parse_line("@" + line.substr(space));
    if (!m) {
      continue;
    }
    const std::string subject = "paper:" + line.substr(0, space);
    std::vector<stats::row_key> keys = {{experiment, m->case_name, m->params, m->metric, m->unit}};
    if (is_of_nodes(experiment, m->params)) {  // it stands beside ours over hosts, too
      keys.push_back(keys.front());
      keys.back().params.emplace_back("over", "hosts");
    }
    for (const stats::row_key& key : keys) {
      const auto& rows = results.rows();
      const bool measured = std::any_of(rows.begin(), rows.end(),
                                        [&key](const stats::row& r) { return r.key == key; });
      const bool known = results.median(key, subject).has_value();
      if (known || (measured_only && !measured)) {
        continue;
      }
      results.add(key, subject, m->value);
      if (std::find(columns.begin(), columns.end(), subject) == columns.end()) {
        columns.push_back(subject);
      }
    }
  }
  return columns;
}

}  // namespace sinew::tool
