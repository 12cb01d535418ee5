// What each rank gets, decided before anything is started.
#pragma once

#include <string>
#include <vector>

#include "sinew/run/run_options.hpp"

namespace sinew::tool {

struct planned_rank {
  int application = 0;
  std::string program;  ///< a path
  const sinew::tool::application* what = nullptr;
  std::vector<int> cpus;
};

struct job_plan {
  std::string job;  ///< unique on this node
  std::vector<planned_rank> ranks;
  int exit_code = 0;                 ///< not 0: nothing can be started
  std::string complaint;             ///< why
  std::vector<std::string> remarks;  ///< for the user, although the job starts
};

/// `options` must outlive the plan.
[[nodiscard]] job_plan plan_job(const run_options& options);

/// The launcher's environment without the variables of any other launcher.
[[nodiscard]] std::vector<std::string> clean_environment();

/// The environment of one rank: `clean`, then ours, then the user's.
[[nodiscard]] std::vector<std::string> rank_environment(const run_options& options,
                                                        const job_plan& plan, int rank,
                                                        const std::vector<std::string>& clean,
                                                        int pmi_fd, int memory_fd);

/// What --dry-run prints.
[[nodiscard]] std::string describe(const run_options& options, const job_plan& plan);

}  // namespace sinew::tool
