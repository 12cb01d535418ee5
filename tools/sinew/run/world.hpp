// SPDX-License-Identifier: BSD-3-Clause
// Ranks that were started together: those of the job's start, or of one spawn.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sinew/boot/spawn.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/pmi_server.hpp"
#include "sinew/run/rank_process.hpp"

namespace sinew::tool {

/// Each has keys and barriers of its own; the names that ranks publish are all worlds'.
struct world {
  /// The worlds that a rank has to do with beside its own (boot::connections).
  struct links_of_rank {
    std::vector<const world*> kept;
    std::vector<const world*> leaving;
  };

  std::vector<int> ranks;  ///< their numbers in the job, by rank in the world
  std::unique_ptr<pmi_server> pmi;
  int spawner = -1;  ///< -1: the world of the start
  int living = 0;
  bool ending = false;
  std::map<int, links_of_rank> links;  ///< by rank in the world, of those that have any
  // Of a spawned world.
  std::vector<application> applications;
  job_plan plan;  ///< refers to these

  /// `other` has ended.
  void forget(const world& other);
};

/// Worlds that end with one of them, since ranks of both have a communicator together. MPI-5.0
/// section 11.10.4: after MPI_Comm_disconnect they do not.
struct connected_worlds {
  std::vector<world*> all;
  /// Ranks of further ones are in MPI_Comm_disconnect still: it is known soon whether these end,
  /// too.
  bool undecided = false;
};
/// Those of `first`, whose rank `failed` has ended. With `at_once` who is being left ends, too.
[[nodiscard]] connected_worlds connected_to(const std::vector<std::unique_ptr<world>>& worlds,
                                            world& first, int failed, bool at_once);

/// A spawn that a rank waits for.
struct wanted_spawn {
  int spawner = 0;
  boot::spawn_request request;
  std::int64_t give_up_ns = 0;  ///< by now_ns(): then it waits for room no more
};

/// Which of the counts that will do each command gets, of `room` ranks; empty if there are too few.
[[nodiscard]] std::vector<int> share_room(const std::vector<boot::spawn_command>& commands,
                                          int room);
/// The least that all commands need.
[[nodiscard]] int least_ranks(const std::vector<boot::spawn_command>& commands);

/// The program of a command, looked for in the command's path, then as find_program() does.
[[nodiscard]] program_lookup find_spawned(const boot::spawn_command& command);

/// The plan of a world for `request`, with programs found; `counts` as of share_room(). `job`: the
/// job's name.
void plan_world(world& w, const std::string& job, const boot::spawn_request& request,
                const std::vector<program_lookup>& programs, const std::vector<int>& counts);

}  // namespace sinew::tool
