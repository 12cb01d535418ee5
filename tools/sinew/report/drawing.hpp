// SPDX-License-Identifier: BSD-3-Clause
// From measured files to what a page shows: one figure with its lines, and its rows as a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sinew/bench/intervals.hpp"
#include "sinew/bench/results_file.hpp"
#include "sinew/report/figure.hpp"
#include "sinew/report/svg.hpp"

namespace sinew::tool {

/// One row of results beside the paper and the best peer.
struct compared_row {
  std::string label;  ///< "8", "64 method=fold": place on the x axis and line
  std::optional<double> paper;
  std::string paper_name;
  stats::estimate peer;
  std::string peer_name;
  stats::estimate ours;
  std::optional<stats::ratio> ratio;  ///< ours / peer; nothing if one is missing or too noisy
  std::optional<double> floor;
  std::string unit;
  bool more_is_better = false;

  enum class verdict : unsigned char { better, worse, same, noisy, alone } what = verdict::alone;
};

struct drawn_figure {
  figure of;
  plot picture;
  std::string state;  ///< "while a cache line took 29 ns ...", or "" where that was not measured
  std::vector<compared_row> rows;
  const results_file* from = nullptr;
};

/// The figure from the file's numbers, in the state of the machine in which ours has the most
/// samples among those that may be compared. Nothing when nothing of it was measured: a figure of
/// published numbers alone is not drawn. `file` must outlive the result. Cold.
[[nodiscard]] std::optional<drawn_figure> draw(const figure& of, const results_file& file);

}  // namespace sinew::tool
