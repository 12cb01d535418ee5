// SPDX-License-Identifier: BSD-3-Clause
// Reads the files that `sinew bench --json` writes, of schema 1 and 2.
#pragma once

#include <string>
#include <vector>

#include "sinew/bench/stats.hpp"
#include "sinew/formats/json.hpp"

namespace sinew::tool {

using formats::json_value;

struct results_file {
  std::string name;           ///< as it was called on the command line
  int schema = 2;             ///< in 1 there is one sample of each row: the median
  json_value host;            ///< objects, as they are in the file
  json_value run;             ///< null in schema 1
  stats::result_set results;  ///< a parameter "engine" of ours, "series" of a paper, is put back
                              ///< into the subject
};

/// Throws sinew::error: it cannot be read, is malformed, or is of another schema. Cold.
[[nodiscard]] results_file read_results(const std::string& path);
/// The same from text.
[[nodiscard]] results_file parse_results(std::string_view text, const std::string& name);

/// The member as text, "" if it is not there: for facts of the host.
[[nodiscard]] std::string fact(const json_value& of, std::string_view name);

}  // namespace sinew::tool
