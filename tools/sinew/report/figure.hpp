// SPDX-License-Identifier: BSD-3-Clause
// How an experiment is drawn: bench/<experiment>/figures.txt, one paragraph for each figure, lines
// "name: value", '#' comments. This comment is the format's reference; y in the paper's unit is the
// measured number times `scale`.
//   figure: threads-pool               its name, and the file's
//   system: Many threads (Dang et al. 2016)
//   title: Packet pool: a get and a put
//   published: figure "Latency of pool implementation"       where in the paper
//   rows: burst latency                 case (* for any) and metric
//   where: method=paper                 parameters that select rows; optional; "offset=" selects
//                                       rows that have no such parameter
//   lines: method                       parameters that tell lines of a subject apart; optional
//   subjects: sinew:hash mpich          those that are drawn, beside the paper's; all if not given
//   x: threads linear N threads         parameter, linear|log2|log10|words, label; the parameter
//                                       "case" is the number at the end of the case's name
//   y: linear 0.001 Latency (usec)      axis, scale, label
//   limits: x 1 16384, y 0 0.6          the published ends of the axes; optional
//   ours: Sinew, simulated              what our lines are called; Sinew if not given
//   differs: a sentence                 from the paper's set-up
//   repeat: sinew bench pool --full
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/bench/stats.hpp"

namespace sinew::tool {

enum class scale_kind : unsigned char { linear, log2, log10, words };

struct axis {
  scale_kind kind = scale_kind::linear;
  std::string label;
  std::optional<double> low, high;  ///< as published; otherwise the data's
};

struct figure {
  std::string name;
  std::string experiment;
  std::string system;
  std::string title;
  std::string published;
  std::string case_name;
  std::string metric;
  stats::parameters where;
  std::vector<std::string> lines;
  std::vector<std::string> subjects;
  std::string x_parameter;
  axis x;
  axis y;
  double y_scale = 1;
  std::string ours = "Sinew";
  std::string differs;
  std::string repeat;

  /// Whether the row is a point of this figure.
  [[nodiscard]] bool has(const stats::row_key& key) const;
  /// Where on the x axis, as the row says it; nothing if it does not.
  [[nodiscard]] std::optional<std::string> x_of(const stats::row_key& key) const;
  /// What tells this row's line from others of the same subject: "method=fold", or "".
  [[nodiscard]] std::string line_of(const stats::row_key& key) const;
};

/// Reads a file's text. Throws sinew::error with the line that is malformed. Cold.
[[nodiscard]] std::vector<figure> parse_figures(std::string_view text, const std::string& file,
                                                const std::string& experiment);

/// All figures of the sources' folder `bench`, by experiment, then in the files' order. Cold.
[[nodiscard]] std::vector<figure> all_figures(const std::string& bench);

}  // namespace sinew::tool
