// SPDX-License-Identifier: BSD-3-Clause
// Communication patterns as lists of jobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// Many to many between two runs of consecutive ranks. With m <= n source i sends to the n/m
/// destinations from i*(n/m) on; with m > n the m/n sources from j*(m/n) on send to destination j.
struct many_to_many {
  std::uint32_t sources = 0;
  std::uint32_t first_source = 0;
  std::uint32_t destinations = 0;
  std::uint32_t first_destination = 0;
};

struct pattern_options {
  std::uint64_t bytes = 8u << 20;    ///< per job
  std::uint32_t ranks_per_node = 1;  ///< consecutive ranks share a node: node = rank / this
  std::uint32_t group = 8;           ///< of `aggregation`: ranks per group
  std::uint64_t seed = 1;            ///< of `random` and `alltoallv`
};

/// Throws if the longer side is no multiple of the shorter, or a rank does not exist.
[[nodiscard]] job_list make_many_to_many(const topology& net, const many_to_many& shape,
                                         const pattern_options& options = {});

/// The original's 91 experiments: 0-15 disjoint, 16-63 overlap, 64-90 subset. Of p ranks:
/// disjoint sends from the first m to the last n; overlap from the first m to n that start l before
/// rank m; subset from the first m to n among them. Throws unless p is a multiple of 128 (no part
/// may be empty) and id < 91.
inline constexpr std::uint32_t experiments = 91;
[[nodiscard]] many_to_many experiment_shape(std::uint32_t id, std::uint32_t ranks);
[[nodiscard]] const char* experiment_kind(std::uint32_t id);

/// By name. disjoint: first p/16 to last p/2 (experiment 3). overlap: first p/16 to p/2 from p/32
/// on (27). subset: first p/16 to first p/2. incast: first p/2 to p/16 from p/4 on (87).
/// aggregation: each group of consecutive ranks to its middle. random: a permutation. alltoall;
/// alltoallv (random sizes up to `bytes`). halo: every neighbour in the graph. experiment:N.
/// Anything else is a file's name (read_pattern). Throws sinew::error that lists the names.
[[nodiscard]] job_list make_pattern(const topology& net, std::string_view name,
                                    const pattern_options& options = {});
[[nodiscard]] const std::vector<std::string_view>& pattern_names();

/// Lines "source destination bytes" of ranks; # starts a comment; bytes may be 64k or 8M. *.csv: a
/// list or a matrix (pattern_from_csv in interchange.hpp). Throws
/// sinew::error with line and reason; `where` is how messages call the text.
[[nodiscard]] job_list read_pattern(const topology& net, const std::string& path,
                                    std::uint32_t ranks_per_node = 1);
[[nodiscard]] job_list pattern_from_text(const topology& net, std::string_view text,
                                         const std::string& where,
                                         std::uint32_t ranks_per_node = 1);

}  // namespace sinew::route
