// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are spawned where the launcher of this job starts none: over hosts, under another
// launcher and without one. They are a job of their own, by a `sinew run` beneath the root, and
// connect to a port of the root's.
#pragma once

#include <string>
#include <vector>

#include "sinew/boot/spawn.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::dynamic {

/// Whether this job's launcher starts ranks itself.
[[nodiscard]] bool launcher_spawns(core::runtime& rt);

/// What `sinew run` is to do beside the commands.
struct spawned_job_plan {
  std::vector<boot::spawn_command> commands;
  std::string port;   ///< where the new ranks connect
  std::string hosts;  ///< as --hosts has them; empty: as it finds out itself
};

/// A `sinew run` that this process has started. It is waited for when MPI is left.
class spawned_job {
 public:
  /// Throws failure.
  [[nodiscard]] static spawned_job start(const spawned_job_plan& plan);
  ~spawned_job();
  spawned_job(const spawned_job&) = delete;
  spawned_job& operator=(const spawned_job&) = delete;
  /// Whether it has ended. Any thread; does not wait.
  [[nodiscard]] bool over() noexcept;
  /// Of one that is over: why nobody has connected.
  [[nodiscard]] std::string why() const;

 private:
  spawned_job(int pid, std::string program) : pid_(pid), program_(std::move(program)) {}
  int pid_;
  std::string program_;
  int status_ = 0;
};

/// Where so many new ranks run, as --hosts has it: of the hosts that were named for this job first
/// those that have room beside its ranks and those that this process has spawned. Empty: as `sinew
/// run` finds out itself.
[[nodiscard]] std::string hosts_for(core::runtime& rt, int ranks);
/// MPI_UNIVERSE_SIZE: the ranks that there are, or as many as the node has processors, or the hosts
/// that were named take.
[[nodiscard]] int universe_size(core::runtime& rt);

/// Returns when all jobs that this process has spawned have ended. Makes progress meanwhile.
void await_spawned_jobs(core::runtime& rt);
/// Ends them, as this process is about to end. Any thread.
void end_spawned_jobs() noexcept;

/// The port of who has spawned this rank that way; empty if nobody has. Programs that this process
/// starts do not find it any more.
[[nodiscard]] std::string take_port_of_parent();

}  // namespace sinew::dynamic
