// SPDX-License-Identifier: BSD-3-Clause
// `sinew bench compare A.json B.json`: what changed between two measurements.
#pragma once

#include <string>
#include <vector>

#include "sinew/bench/intervals.hpp"
#include "sinew/bench/results_file.hpp"

namespace sinew::tool {

/// A row of one subject that both files have, in the same state of the machine.
struct change {
  stats::row_key key;
  std::string subject;
  std::string state;  ///< "line 29 ns" where states are told apart, else ""
  stats::estimate before;
  stats::estimate after;
  stats::ratio ratio;  ///< after / before
  enum class verdict : unsigned char { same, better, worse, noisy } what = verdict::same;
};

/// All rows that both files have but the papers', in the order of the first. Cold.
[[nodiscard]] std::vector<change> compare(const results_file& before, const results_file& after);

/// The table of those that changed (or of all), and a sentence of counts. Cold.
[[nodiscard]] std::string comparison_text(const std::vector<change>& changes, bool all);

/// The command: two files, --all. Returns 0; 2 for wrong usage.
int compare_main(int argc, char** argv);

}  // namespace sinew::tool
