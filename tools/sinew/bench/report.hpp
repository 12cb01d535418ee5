// SPDX-License-Identifier: BSD-3-Clause
// What `sinew bench` shows and writes: tables on the screen, facts of the host, the JSON file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sinew/bench/experiment.hpp"

namespace sinew::tool {

/// A line per case, a column per subject, the ratio to the best peer and the multiple of the floor;
/// below, what was too noisy to be shown, and who was faster than the floor. Empty if nothing was
/// measured.
std::string experiment_table(const experiment& e, const stats::result_set& results,
                             const request& asked, const std::vector<std::string>& columns);

/// The experiment's table; where its samples were taken in several states of the machine, one for
/// each state that all subjects reached, or else that ours and a peer did. Cold.
std::string tables_by_state(const experiment& e, const stats::result_set& results,
                            const request& asked, const std::vector<std::string>& columns);

/// For experiments that measure many things of one case: a line per case, a column for each thing,
/// and beside it the published figure where there is one. Units stand in the head.
std::string wide_table(const experiment& e, const stats::result_set& results, const request& asked,
                       const std::vector<std::string>& columns);

/// Adds the paper's figures (bench/<experiment>/paper.txt) and returns the columns they make.
/// `measured_only`: those of rows that have been measured. Cold.
std::vector<std::string> add_published(stats::result_set& results, const std::string& experiment,
                                       bool measured_only = true);

/// A row's case and parameters, as the first column of a table shows them.
[[nodiscard]] std::string label_of(const stats::row_key& key);

/// What was started, for the file.
struct started {
  std::string experiment;
  std::string subject;
  command what;
  friend bool operator==(const started& a, const started& b) {
    return a.experiment == b.experiment && a.subject == b.subject && a.what.words == b.what.words;
  }
};

/// What a file says of its run beside the results.
struct run_facts {
  std::vector<std::string> options;             ///< the command line
  std::map<std::string, std::string> versions;  ///< of subjects: host.peers and host.sinew
  std::map<std::string, std::string> absent;    ///< peers that are not here, and why: run.absent
  std::vector<started> commands;
  std::string hosts = {};  ///< a sentence on those that were measured on; empty: this machine
};

/// {"schema":2,"host":{...},"run":{...},"results":[...]}. Suspends (asks git). Cold.
std::string json_document(const stats::result_set& results, const run_facts& facts);

// Parts of floors, for descriptors. Nothing where the floor was not measured.

/// The parameter of this name, or "".
[[nodiscard]] std::string value_of(const stats::parameters& params, const std::string& name);
/// One trip of a cache line in microseconds, for rows of latencies.
[[nodiscard]] std::optional<double> line_trip_us(const stats::result_set& results,
                                                 const stats::row_key& key);
/// The least latency in ns, or the greatest bandwidth in GB/s, with which the floor's bare programs
/// move the row's bytes from one process to the other (cases `transfer` and `stream`), whichever of
/// their ways is best. Up to 64 bytes a latency is a line's trip.
[[nodiscard]] std::optional<double> transfer_floor(const stats::result_set& results,
                                                   const stats::row_key& key);
[[nodiscard]] std::optional<double> stream_floor(const stats::result_set& results,
                                                 const stats::row_key& key);

}  // namespace sinew::tool
