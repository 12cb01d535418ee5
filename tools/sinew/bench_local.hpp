// Experiments of one process, without MPI: parts of Sinew beside libraries that do the same. Ours
// are programs of the build, peers are compiled when they are found.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench_stats.hpp"
#include "bench_subjects.hpp"

namespace sinew::tool {

/// Whether `experiment` is one of them: table, threads, pool, reductions.
[[nodiscard]] bool is_local(std::string_view experiment);
/// Whether some of them has a peer of this name.
[[nodiscard]] bool is_local_peer(std::string_view name);

/// What the system's package manager says of the package that a peer's header belongs to: for
/// libraries that do not tell their version. "unknown" if nothing does. Suspends. Cold.
[[nodiscard]] std::string packaged_version(std::string_view experiment, std::string_view peer);

/// The words its programs take, one start after the other; `level` 0 quick, 1 usual, 2 full.
[[nodiscard]] std::vector<std::vector<std::string>> local_starts(std::string_view experiment,
                                                                 std::size_t level);

/// Experiments that are commands of this program: routing, chunks, carry.
[[nodiscard]] bool is_own_command(std::string_view experiment);
/// Their command lines, each of which takes less than a limit of 90 s. `sweep`: routing's sweeps
/// instead of its patterns.
[[nodiscard]] std::vector<std::vector<std::string>> own_commands(std::string_view experiment,
                                                                 std::size_t level, bool sweep);

/// Sinew, then the peers whose headers are installed. Cold.
[[nodiscard]] std::vector<subject> local_subjects(std::string_view experiment);

/// The program of one of them, compiled if need be; on failure nothing, and `failure` says why.
/// Suspends. Cold.
[[nodiscard]] std::optional<std::string> local_program(const subject& who,
                                                       const std::string& experiment,
                                                       std::string& failure);

/// Adds the publication's figures (bench/<experiment>/paper.txt) to the rows that have been
/// measured, and returns the columns they make. Cold.
std::vector<std::string> add_published(stats::result_set& results, const std::string& experiment);

}  // namespace sinew::tool
