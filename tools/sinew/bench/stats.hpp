// SPDX-License-Identifier: BSD-3-Clause
// The pure part of `sinew bench`: medians, the line protocol of measuring programs, rows of samples
// and the table on the screen. No input or output, no clock: tests/bench holds it. Intervals and
// the states of a machine are in intervals.hpp, the file in results_json.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/base/parse.hpp"

namespace sinew::tool::stats {

/// What is known of one number measured several times. `mad` is the median distance to the median.
struct summary {
  std::size_t n = 0;
  double median = 0;
  double mad = 0;
  double min = 0;
  double max = 0;
};

/// One number from one start of a program.
struct sample {
  double value = 0;
  int start = 0;       ///< which start of the subject, from 0
  double line_ns = 0;  ///< one-way trip of a cache line just before it; 0: not measured
};
using series = std::vector<sample>;

/// Median of a copy; 0 when empty.
inline double median_of(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

inline summary summarise(const std::vector<double>& values) {
  summary s;
  if (values.empty()) {
    return s;
  }
  s.n = values.size();
  s.median = median_of(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double v : values) {
    distances.push_back(std::fabs(v - s.median));
  }
  s.mad = median_of(std::move(distances));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  s.min = *low;
  s.max = *high;
  return s;
}

inline std::vector<double> values_of(const series& samples) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const sample& s : samples) {
    values.push_back(s.value);
  }
  return values;
}
inline double median_of(const series& samples) { return median_of(values_of(samples)); }
inline summary summarise(const series& samples) { return summarise(values_of(samples)); }

/// A separator at the end ends the last part; nothing has no parts.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts = base::split(text, separator);
  if (parts.back().empty()) {
    parts.pop_back();
  }
  return parts;
}

using parameters = std::vector<std::pair<std::string, std::string>>;

/// "bytes=8,window=64" or "-" for none. Nothing when a part lacks its '=' or its name.
inline std::optional<parameters> parse_parameters(std::string_view text) {
  parameters found;
  if (text == "-") {
    return found;
  }
  for (const std::string& part : split(text, ',')) {
    const std::size_t at = part.find('=');
    if (at == std::string::npos || at == 0) {
      return std::nullopt;
    }
    found.emplace_back(part.substr(0, at), part.substr(at + 1));
  }
  return found;
}

inline std::optional<double> parse_number(std::string_view text) {
  const auto value = base::parse_double(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// One number from a measuring program.
struct measurement {
  std::string case_name;
  std::string metric;
  std::string unit;
  parameters params;
  double value = 0;
  double line_ns = 0;  ///< as in sample
};

/// Reads "@ case metric unit params value [line=ns]"; nothing for any other line.
inline std::optional<measurement> parse_line(std::string_view line) {
  if (line.rfind("@ ", 0) != 0) {
    return std::nullopt;
  }
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) {
    line.remove_suffix(1);
  }
  const std::vector<std::string> words = split(line.substr(2), ' ');
  if (words.size() != 5 && words.size() != 6) {
    return std::nullopt;
  }
  auto params = parse_parameters(words[3]);
  const auto value = parse_number(words[4]);
  std::optional<double> trip = 0;
  if (words.size() == 6) {
    trip = words[5].rfind("line=", 0) == 0 ? parse_number(words[5].substr(5)) : std::nullopt;
  }
  if (!params || !value || !trip || *trip < 0) {
    return std::nullopt;
  }
  return measurement{words[0], words[1], words[2], std::move(*params), *value, *trip};
}

/// Where a number belongs. Rows with the same key stand side by side, one column per subject.
struct row_key {
  std::string experiment;
  std::string case_name;
  parameters params;
  std::string metric;
  std::string unit;
  friend bool operator==(const row_key&, const row_key&) = default;
};

struct row {
  row_key key;
  std::map<std::string, series> samples;  ///< by subject
};

/// Median of one subject, if measured.
inline std::optional<double> median_in(const row& r, const std::string& subject) {
  const auto found = r.samples.find(subject);
  if (found == r.samples.end() || found->second.empty()) {
    return std::nullopt;
  }
  return median_of(found->second);
}

/// All numbers of a run in the order in which their rows first appeared.
class result_set {
 public:
  void add(const row_key& key, const std::string& subject, const sample& one) {
    auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const row& r) { return r.key == key; });
    if (found == rows_.end()) {
      found = rows_.insert(rows_.end(), row{key, {}});
    }
    found->samples[subject].push_back(one);
  }
  void add(const row_key& key, const std::string& subject, double value) {
    add(key, subject, sample{value});
  }
  void add(const std::string& experiment, const std::string& subject, const measurement& m,
           int start = 0) {
    add(row_key{experiment, m.case_name, m.params, m.metric, m.unit}, subject,
        sample{m.value, start, m.line_ns});
  }
  [[nodiscard]] const std::vector<row>& rows() const noexcept { return rows_; }

  /// The row of that key, or nullptr. Valid until the next add().
  [[nodiscard]] const row* find(const row_key& key) const {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const row& r) { return r.key == key; });
    return found == rows_.end() ? nullptr : &*found;
  }
  /// Median of one subject in a row, if measured.
  [[nodiscard]] std::optional<double> median(const row_key& key, const std::string& subject) const {
    const row* found = find(key);
    return found == nullptr ? std::nullopt : median_in(*found, subject);
  }
  /// The same in the first row with this case and these parameters, whatever its metric.
  [[nodiscard]] std::optional<double> median(std::string_view experiment,
                                             std::string_view case_name, const parameters& params,
                                             const std::string& subject) const {
    for (const row& r : rows_) {
      if (r.key.experiment != experiment || r.key.case_name != case_name ||
          r.key.params != params) {
        continue;
      }
      if (const auto found = median_in(r, subject)) {
        return found;
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<row> rows_;
};

/// Rates, bandwidths and what is hidden behind computation want to be high, everything else low.
inline bool higher_is_better(std::string_view metric) {
  return metric == "rate" || metric == "bandwidth" || metric == "throughput" ||
         metric == "overlap" || metric == "gain" || metric == "limit";
}

/// Not measured here: figures of a publication, shown in columns of their own.
inline bool published(std::string_view subject) { return subject.rfind("paper:", 0) == 0; }

/// The best of all measured subjects but `ours` and "floor", with its median; nothing when there is
/// no peer.
inline std::optional<std::pair<std::string, double>> best_peer(const row& r,
                                                               const std::string& ours) {
  std::optional<std::pair<std::string, double>> best;
  for (const auto& [subject, samples] : r.samples) {
    if (subject == ours || subject == "floor" || published(subject) || samples.empty()) {
      continue;
    }
    const double median = median_of(samples);
    if (!best || (higher_is_better(r.key.metric) ? median > best->second : median < best->second)) {
      best.emplace(subject, median);
    }
  }
  return best;
}

/// Ours over theirs when the floor, which both pay, is taken from both; nothing unless both are
/// above it.
inline std::optional<double> net_ratio(double ours, double theirs, double floor) {
  if (ours <= floor || theirs <= floor) {
    return std::nullopt;
  }
  return (ours - floor) / (theirs - floor);
}

// ---- the table --------------------------------------------------------------------------------

/// Three significant digits, plain notation: "187", "1.52", "0.0312", "4096".
inline std::string short_number(double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  const double size = std::fabs(value);
  char text[64];
  if (size >= 99.95) {
    std::snprintf(text, sizeof text, "%.0f", value);
  } else if (size >= 9.995) {
    std::snprintf(text, sizeof text, "%.1f", value);
  } else if (size >= 0.0995 || size == 0) {
    std::snprintf(text, sizeof text, "%.2f", value);
  } else {
    std::snprintf(text, sizeof text, "%.2g", value);
  }
  return text;
}

/// Columns seen on a terminal: bytes that start a UTF-8 sequence.
inline std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Pads to columns: the first `left` columns to the left, the rest to the right; a line under the
/// head. Short rows are allowed.
inline std::string render_table(const std::vector<std::vector<std::string>>& lines,
                                std::size_t left = 1) {
  std::vector<std::size_t> widths;
  for (const auto& cells : lines) {
    if (widths.size() < cells.size()) {
      widths.resize(cells.size());
    }
    for (std::size_t c = 0; c < cells.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(cells[c]));
    }
  }
  std::string out;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    std::string text;
    for (std::size_t c = 0; c < lines[l].size(); ++c) {
      const std::string pad(widths[c] - display_width(lines[l][c]), ' ');
      if (c > 0) {
        text += "  ";
      }
      text += c < left ? lines[l][c] + pad : pad + lines[l][c];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
    if (l == 0 && lines.size() > 1) {
      std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
      for (const std::size_t w : widths) {
        total += w;
      }
      out += std::string(total, '-') + '\n';
    }
  }
  return out;
}

/// The last line that says something, cut to `most` bytes: what a failed program is known by.
inline std::string last_line(std::string_view text, std::size_t most = 160) {
  std::string last;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) {
      continue;
    }
    const std::string_view said = std::string_view(line).substr(begin);
    if (said.find_first_not_of("-=*+# \t\r") == std::string_view::npos) {
      continue;
    }
    last = said.substr(0, said.find_last_not_of(" \t\r") + 1);
  }
  if (last.size() > most) {
    last = last.substr(0, most) + "...";
  }
  return last;
}

}  // namespace sinew::tool::stats
