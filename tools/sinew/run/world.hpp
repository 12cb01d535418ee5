// Ranks that were started together: those of the job's start, or of one spawn.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sinew/boot/spawn.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/pmi_server.hpp"
#include "sinew/run/rank_process.hpp"

namespace sinew::tool {

/// Each has keys and barriers of its own; the names that ranks publish are all worlds'.
struct world {
  std::vector<int> ranks;  ///< their numbers in the job, by rank in the world
  std::unique_ptr<pmi_server> pmi;
  int spawner = -1;  ///< -1: the world of the start
  int living = 0;
  // Of a spawned world.
  std::vector<application> applications;
  job_plan plan;  ///< refers to these
};

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

/// The program of a command, looked for in the command's path, then as a shell does, then in the
/// directory where it is to run.
[[nodiscard]] program_lookup find_spawned(const boot::spawn_command& command);

/// The plan of a world for `request`, with programs found; `counts` as of share_room(). `job`: the
/// job's name.
void plan_world(world& w, const std::string& job, const boot::spawn_request& request,
                const std::vector<program_lookup>& programs, const std::vector<int>& counts);

}  // namespace sinew::tool
