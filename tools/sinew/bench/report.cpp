// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"
#include "sinew/bench/intervals.hpp"

namespace sinew::tool {

std::string label_of(const stats::row_key& key) {
  std::string label = key.case_name;
  for (const auto& [name, value] : key.params) {
    label += ' ' + name + '=' + value;
  }
  return label;
}

namespace {

using stats::parameters;
using stats::result_set;

constexpr std::size_t most_notes = 8;

/// Sentences below a table.
class notes {
 public:
  void add(const std::string& sentence) {
    if (++count_ <= most_notes) {
      text_ += sentence + '\n';
    }
  }
  [[nodiscard]] std::string text() const {
    return count_ <= most_notes
               ? text_
               : text_ + "(" + std::to_string(count_ - most_notes) + " more such notes)\n";
  }

 private:
  std::size_t count_ = 0;
  std::string text_;
};

std::string cell_of(const stats::row& r, const std::string& subject, notes& below) {
  const auto found = r.samples.find(subject);
  if (found == r.samples.end()) {
    return "-";
  }
  if (stats::published(subject)) {
    return stats::short_number(stats::median_of(found->second));
  }
  const stats::estimate e = stats::estimate_of(found->second);
  if (e.doubtful()) {
    below.add("noisy: " + label_of(r.key) + ' ' + r.key.metric + ", " + subject + ": median " +
              stats::short_number(e.median) + ", but resampling gives anything from " +
              stats::short_number(e.low) + " to " + stats::short_number(e.high) + " (" +
              std::to_string(e.samples) + " samples, " + std::to_string(e.starts) + " starts)");
  }
  return stats::estimate_text(e);
}

std::string against_best(const stats::row& r) {
  const auto ours = r.samples.find("sinew");
  const auto peer = stats::best_peer(r, "sinew");
  if (ours == r.samples.end() || !peer) {
    return "-";
  }
  const stats::series& theirs = r.samples.at(peer->first);
  if (stats::estimate_of(ours->second).doubtful() || stats::estimate_of(theirs).doubtful()) {
    return "noisy";
  }
  const auto ratio = stats::ratio_of(ours->second, theirs);
  return ratio ? stats::ratio_text(*ratio) : "-";
}

void remark_floor(const stats::row& r, double floor, notes& below) {
  const bool more = stats::higher_is_better(r.key.metric);
  for (const auto& [subject, samples] : r.samples) {
    if (subject == "floor" || stats::published(subject)) {
      continue;
    }
    if (stats::beats_floor(stats::estimate_of(samples), floor, more)) {
      below.add("faster than its floor: " + label_of(r.key) + ' ' + r.key.metric + ", " + subject +
                ": the floor is of another way, or was measured at a worse moment");
    }
  }
}

// The best median of the floor's rows of this case and of the row's bytes.
std::optional<double> best_way(const result_set& results, const stats::row_key& key,
                               std::string_view case_name) {
  std::optional<double> best;
  for (const stats::row& r : results.rows()) {
    if (r.key.experiment != key.experiment || r.key.case_name != case_name ||
        value_of(r.key.params, "bytes") != value_of(key.params, "bytes")) {
      continue;
    }
    const auto median = stats::median_in(r, "floor");
    const bool more = stats::higher_is_better(r.key.metric);
    if (median && (!best || (more ? *median > *best : *median < *best))) {
      best = median;
    }
  }
  return best;
}

}  // namespace

std::string value_of(const parameters& params, const std::string& name) {
  for (const auto& [key, value] : params) {
    if (key == name) {
      return value;
    }
  }
  return {};
}

std::optional<double> line_trip_us(const result_set& results, const stats::row_key& key) {
  const auto line = results.median(key.experiment, "line", {{"kind", "pair"}}, "floor");
  return line && key.metric == "latency" ? std::optional(*line / 1e3) : std::nullopt;
}

std::optional<double> transfer_floor(const result_set& results, const stats::row_key& key) {
  const auto bytes = stats::parse_number(value_of(key.params, "bytes"));
  if (!bytes || key.metric != "latency") {
    return std::nullopt;
  }
  if (*bytes <= 64) {
    return results.median(key.experiment, "line", {{"kind", "pair"}}, "floor");
  }
  return best_way(results, key, "transfer");
}

std::optional<double> stream_floor(const result_set& results, const stats::row_key& key) {
  return best_way(results, key, "stream");
}

std::string experiment_table(const experiment& e, const result_set& results, const request&,
                             const std::vector<std::string>& columns) {
  std::vector<std::string> subjects, papers;  // these stand last
  for (const std::string& column : columns) {
    (stats::published(column) ? papers : subjects).push_back(column);
  }
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> head = {std::string(e.name)};
  notes below;
  head.insert(head.end(), subjects.begin(), subjects.end());
  head.emplace_back("vs best peer");
  if (e.extra) {
    head.emplace_back(e.extra->heading);
  }
  head.insert(head.end(), {"floor", "of floor", "unit"});
  head.insert(head.end(), papers.begin(), papers.end());
  lines.push_back(head);
  for (const stats::row& r : results.rows()) {
    if (r.key.experiment != e.name || (r.samples.size() == 1 && r.samples.count("floor") == 1)) {
      continue;
    }
    const bool named = r.key.metric.find('_') != std::string::npos;
    std::vector<std::string> cells = {label_of(r.key) + (named ? ' ' + r.key.metric : "")};
    for (const std::string& subject : subjects) {
      cells.push_back(cell_of(r, subject, below));
    }
    const auto ours = stats::median_in(r, "sinew");
    const auto floor =
        e.floor_of != nullptr ? e.floor_of(results, r.key) : results.median(r.key, "floor");
    cells.push_back(against_best(r));
    if (e.extra) {
      cells.push_back(e.extra->cell(r, floor));
    }
    cells.push_back(floor ? stats::short_number(*floor) : "-");
    cells.push_back(ours && floor && *floor > 0 ? stats::short_number(*ours / *floor) + "x" : "-");
    cells.push_back(r.key.unit + (stats::higher_is_better(r.key.metric) ? " (more)" : " (less)"));
    for (const std::string& paper : papers) {
      cells.push_back(cell_of(r, paper, below));
    }
    if (floor) {
      remark_floor(r, *floor, below);
    }
    SINEW_ASSERT(cells.size() == head.size());
    lines.push_back(cells);
  }
  if (lines.size() == 1) {
    return {};
  }
  return stats::render_table(lines) + below.text();
}

std::string tables_by_state(const experiment& e, const result_set& results, const request& asked,
                            const std::vector<std::string>& columns) {
  const auto table = e.table != nullptr ? e.table : experiment_table;
  const stats::machine_states states = stats::states_of({&results}, e.name);
  if (states.all().empty()) {
    return table(e, results, asked, columns);
  }
  std::string text;
  for (const std::size_t s : stats::comparable_states(results, e.name, states)) {
    const auto& state = states.all()[s];
    if (states.all().size() > 1) {
      text += "While a cache line took " + stats::short_number(state.trip_ns) +
              " ns from one rank to the other (" + stats::short_number(100 * state.share) +
              " % of the samples):\n";
    }
    text += table(e, stats::in_state(results, e.name, state), asked, columns);
  }
  return text;
}

}  // namespace sinew::tool
