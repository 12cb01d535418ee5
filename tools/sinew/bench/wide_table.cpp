// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

std::string heading(const stats::row_key& key) {
  std::string text = key.metric;
  std::replace(text.begin(), text.end(), '_', ' ');
  return key.unit == "1" ? text : text + ' ' + key.unit;
}

std::size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  names.push_back(name);
  return names.size() - 1;
}

}  // namespace

std::string wide_table(const experiment& of, const stats::result_set& results, const request&,
                       const std::vector<std::string>&) {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::map<std::pair<std::size_t, std::size_t>, std::string> cells;
  for (const stats::row& r : results.rows()) {
    if (r.key.experiment != of.name) {
      continue;
    }
    const std::size_t row = place_of(rows, label_of(r.key));
    for (const auto& [subject, values] : r.samples) {
      const bool ours = subject == "sinew";
      const std::size_t column =
          place_of(columns, heading(r.key) + (ours ? "" : " (" + subject + ')'));
      cells[{row, column}] = stats::short_number(stats::median_of(values));
    }
  }
  if (rows.empty()) {
    return {};
  }
  std::vector<std::vector<std::string>> lines = {{std::string(of.name)}};
  lines[0].insert(lines[0].end(), columns.begin(), columns.end());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    lines.push_back({rows[r]});
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto found = cells.find({r, c});
      lines.back().push_back(found == cells.end() ? "-" : found->second);
    }
  }
  return stats::render_table(lines);
}

}  // namespace sinew::tool
