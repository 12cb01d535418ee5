// Ranks that are spawned where the launcher of this job starts none: over hosts, under another
// launcher and without one. They are a job of their own, by a `sinew run` beneath the root, and
// connect to a port of the root's.
#pragma once

#include <string>
#include <vector>

#include "sinew/boot/spawn.hpp"

namespace sinew::mpi {

/// Whether this job's launcher starts ranks itself.
[[nodiscard]] bool launcher_spawns();

/// What `sinew run` is to do beside the commands.
struct spawned_job_plan {
  std::vector<boot::spawn_command> commands;
  std::string port;   ///< where the new ranks connect
  std::string hosts;  ///< as --hosts has them; empty: as it finds out itself
};

/// A `sinew run` that this process has started. It is waited for when MPI is left.
class spawned_job {
 public:
  /// Throws MPI_ERR_SPAWN.
  [[nodiscard]] static spawned_job start(const spawned_job_plan& plan);
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

/// The hosts of this job with places for so many ranks, as --hosts has them; empty if it has one
/// host, or those are not known.
[[nodiscard]] std::string hosts_for(int ranks);

/// Returns when all jobs that this process has spawned have ended. Makes progress meanwhile.
void await_spawned_jobs();
/// Ends them, as this process is about to end. Any thread.
void end_spawned_jobs() noexcept;

/// The port of who has spawned this rank that way; empty if nobody has. Programs that this process
/// starts do not find it any more.
[[nodiscard]] std::string take_port_of_parent();

}  // namespace sinew::mpi
