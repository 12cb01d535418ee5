// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a job stand where: those in one place are one line, and the fewest come last,
// since they are most often why the others wait.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sinew/ask/job_socket.hpp"
#include "sinew/ask/stacks.hpp"
#include "sinew/boot/wait_report.hpp"

namespace sinew::tool {

/// Where a rank stands, and what it waits for, if it has waited for some time.
struct standing : rank_stacks {
  std::optional<boot::wait_report> wait = {};
};
/// By rank.
using roll = std::map<int, standing>;

/// "ranks 0, 2-5".
[[nodiscard]] std::string ranks_text(const std::vector<int>& ascending);

/// A line for each place, then who holds the others up, if that can be told:
///   ranks 0, 2-3: MPI_Allreduce of MPI_COMM_WORLD, for 12 s, in solve (solver.f90:210)
///   rank 1: MPI_Recv from rank 0, tag 7, of MPI_COMM_WORLD, 4 bytes, in share (swarm.f90:38)
/// Where that makes many lines, ranks that wait for different ranks are one.
///   1 rank stands elsewhere than the 3 others.
[[nodiscard]] std::string roll_call(const roll& all);
/// Those that do not stand where most do; nothing if there is no such place.
[[nodiscard]] std::vector<int> ranks_elsewhere(const roll& all);
/// What answers a question about where the ranks stand.
[[nodiscard]] std::string answer_text(const roll& all, question what);
/// All stacks as one tree, from main() on; each line says which ranks are in that call.
[[nodiscard]] std::string stack_tree(const roll& all);
/// Of a rank that stands in the handler of the signal that ends it: the calls that led there, a
/// line each. Empty if they are not known.
[[nodiscard]] std::string crash_text(const rank_stacks& rank);
/// The same as JSON, for programs.
[[nodiscard]] std::string roll_json(const roll& all);
[[nodiscard]] bool any_is_known(const roll& all);
/// All ranks are in a call of the library.
[[nodiscard]] bool all_are_in_calls(const roll& all);
/// The same, and none is in one that may wait for somebody else than a rank: another job, a file.
[[nodiscard]] bool all_wait_for_each_other(const roll& all);

}  // namespace sinew::tool
