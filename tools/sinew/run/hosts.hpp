// SPDX-License-Identifier: BSD-3-Clause
// The hosts of a job: where they are named, and which rank runs on which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sinew/run/run_options.hpp"

namespace sinew::tool {

/// A larger number of ranks is cut down to this.
inline constexpr int most_slots_of_a_host = 65'536;

/// A host as it was named, and how many ranks it takes.
struct host_slots {
  std::string name;
  int slots = 1;
};

/// Which rank runs on which host. Empty for a job on this machine alone.
struct host_map {
  std::vector<std::string> names;  ///< by node; each has at least one rank
  std::vector<int> node_of;        ///< by rank
  /// All that were named, those without a rank, too: where further ranks may run.
  std::vector<host_slots> named = {};

  [[nodiscard]] bool empty() const noexcept { return names.empty(); }
  [[nodiscard]] int node(int rank) const { return node_of[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::string& host(int rank) const {
    return names[static_cast<std::size_t>(node(rank))];
  }
};

/// "h1:2,h2": a host named twice takes the sum. Throws usage_failure that begins with `option`.
[[nodiscard]] std::vector<host_slots> parse_hosts(std::string_view option, std::string_view list);
/// The text of a file of hosts, in MPICH's form (HOST or HOST:N in a line) or Open MPI's (HOST
/// slots=N max_slots=M); '#' begins a comment. Throws usage_failure with file and line.
[[nodiscard]] std::vector<host_slots> parse_host_file(std::string_view file, std::string_view text);
/// Slurm's list of nodes, "h[1-3,7],gpu02", and its tasks on each, "2(x2),1". Throws usage_failure.
[[nodiscard]] std::vector<host_slots> parse_slurm(std::string_view nodes, std::string_view tasks);

/// The inverse of parse_hosts().
[[nodiscard]] std::string hosts_text(const std::vector<host_slots>& hosts);

/// Gives `ranks` ranks to hosts: each host's slots first, then round again, or one by one.
[[nodiscard]] host_map map_ranks(const std::vector<host_slots>& hosts, int ranks, bool by_node);

/// The name of this machine, for messages.
[[nodiscard]] std::string own_host_name();
/// True for names and addresses of this machine.
[[nodiscard]] bool is_this_machine(std::string_view host);

/// Who was named, by option or file, or else by the Slurm job that we are in. Throws usage_failure.
[[nodiscard]] std::vector<host_slots> named_hosts(const run_options& options);

/// Decides how many ranks each program has, where that was not said, and where they run: on the
/// hosts that were named, or else on those of the Slurm job that we are in. Chooses the agent.
/// Throws usage_failure.
[[nodiscard]] host_map place_ranks(run_options& options);

}  // namespace sinew::tool
