// What `sinew bench` shows and writes: tables on the screen, facts of the host, the JSON file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sinew/bench/experiment.hpp"

namespace sinew::tool {

/// A line per case, a column per subject, the ratio to the best peer and the multiple of the floor.
/// Empty if nothing was measured.
std::string experiment_table(const experiment& e, const stats::result_set& results,
                             const request& asked, const std::vector<std::string>& columns);

/// For experiments that measure many things of one case: a line per case, a column for each thing,
/// and beside it the published figure where there is one. Units stand in the head.
std::string wide_table(const experiment& e, const stats::result_set& results, const request& asked,
                       const std::vector<std::string>& columns);

/// Adds the paper's figures (bench/<experiment>/paper.txt) to the rows that have been measured, and
/// returns the columns they make. Cold.
std::vector<std::string> add_published(stats::result_set& results, const std::string& experiment);

/// {"schema":1,"host":{...},"results":[...]}. `versions` goes to host.peers and host.sinew.
std::string json_document(const stats::result_set& results,
                          const std::map<std::string, std::string>& versions);

// Parts of floors, for descriptors. Nothing where the floor was not measured.

/// The parameter of this name, or "".
[[nodiscard]] std::string value_of(const stats::parameters& params, const std::string& name);
/// One trip of a cache line in microseconds, for rows of latencies.
[[nodiscard]] std::optional<double> line_trip_us(const stats::result_set& results,
                                                 const stats::row_key& key);
/// memcpy's rate in GB/s for the row's bytes.
[[nodiscard]] std::optional<double> copy_rate_of(const stats::result_set& results,
                                                 const stats::row_key& key);

}  // namespace sinew::tool
