// SPDX-License-Identifier: BSD-3-Clause
// What each rank gets, decided before anything is started.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sinew/run/hosts.hpp"
#include "sinew/run/run_options.hpp"

namespace sinew::tool {

struct planned_rank {
  int application = 0;
  std::string program;  ///< a path
  const sinew::tool::application* what = nullptr;
  std::vector<int> cpus;
  std::vector<std::string_view>
      preloaded{};  ///< which of our libraries go in front of it, in order
};

struct job_plan {
  std::string job;  ///< unique on each of its nodes
  std::vector<planned_rank> ranks;
  host_map hosts;                    ///< empty: the job is on this machine alone
  std::vector<int> local;            ///< ranks that this process starts, ascending
  int exit_code = 0;                 ///< not 0: nothing can be started
  std::string complaint;             ///< why
  std::vector<std::string> remarks;  ///< for the user, although the job starts
  bool other_mpi_told = false;       ///< one of them is that a program runs on another MPI
};

/// The plan of the process that starts the ranks of `node`, or of all if `hosts` is empty.
/// `options` must outlive the plan.
[[nodiscard]] job_plan plan_job(const run_options& options, host_map hosts = {}, int node = 0);
/// The plan of a launcher whose ranks are started by daemons: it has no program of its own here.
[[nodiscard]] job_plan plan_hosts(const run_options& options, host_map hosts);

/// The launcher's environment without the variables of any other launcher.
[[nodiscard]] std::vector<std::string> clean_environment();

/// The same, with the user's variables and our libraries: what a rank's dynamic linker sees.
[[nodiscard]] std::vector<std::string> linker_environment(const application& what);

/// A word as a shell reads it, quoted only where needed.
[[nodiscard]] std::string shell_quoted(const std::string& word);

/// The path of another MPI's library that this program would load as a rank, or empty.
[[nodiscard]] std::string other_mpi_of(const application& what, const std::string& program);

/// The environment of the rank plan.local[local]: `clean`, then ours, then the user's.
[[nodiscard]] std::vector<std::string> rank_environment(const run_options& options,
                                                        const job_plan& plan, int local,
                                                        const std::vector<std::string>& clean,
                                                        int pmi_fd, int memory_fd);

/// What --dry-run prints.
[[nodiscard]] std::string describe(const run_options& options, const job_plan& plan);

}  // namespace sinew::tool
