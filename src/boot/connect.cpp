// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string>

#include "boot/environment.hpp"
#include "boot/ways_in.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/pulse.hpp"
#include "sinew/boot/session.hpp"

namespace sinew::boot {
namespace {

struct other_launcher {
  const char* name;
  const char* rank;  ///< the variables that it sets
  const char* size;
  const char* hint;
};
constexpr std::array other_launchers = {
    other_launcher{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
                   "use srun --mpi=pmix or --mpi=pmi2, or `sinew run` in the allocation"},
    other_launcher{"PALS", "PALS_RANKID", "PALS_SIZE", "use `sinew run --hosts` in the allocation"},
    other_launcher{"flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE",
                   "use flux run -o pmi=simple, or `sinew run --hosts` in the allocation"}};

// Variables of launchers that start us in a way we do not understand. Without this a job of N
// would silently become N jobs of one.
void refuse_unknown_launchers() {
  for (const other_launcher& each : other_launchers) {
    const auto size = variable(each.size);
    SINEW_CHECK(!variable(each.rank) || !size || *size == "1",
                std::string(each.name) + " started " + size.value_or("") +
                    " tasks without telling them of each other",
                std::string(each.size) + " is set but there is no PMI connection", each.hint);
  }
  SINEW_CHECK(!variable(launcher_wire::pmi_rank), "PMI_RANK is set but neither PMI_FD nor PMI_PORT",
              "the launcher's connection got lost, or the variable was set by hand",
              "start with the launcher itself, or run `env -u PMI_RANK PROGRAM`");
}

std::unique_ptr<session> join() {
  const bool by_sinew = variable(launcher_wire::job).has_value();
  const bool by_pmi1 = variable(launcher_wire::pmi_fd) || variable(launcher_wire::pmi_port);
  // `sinew run` sets that for programs that look for it, too, but not what Open MPI's own launcher
  // sets beside it.
  const bool by_openmpi = variable("OMPI_COMM_WORLD_RANK") && (!by_sinew || variable("PMIX_RANK"));
  SINEW_CHECK(!by_openmpi || !(by_sinew || by_pmi1), "two launchers have started this process",
              std::string("Open MPI's OMPI_COMM_WORLD_RANK is set, and so is ") +
                  (by_sinew ? launcher_wire::job : launcher_wire::pmi_fd),
              "do not start one launcher with another, or unset the outer one's variables");
  if (by_sinew) {
    return join_sinew();
  }
  if (by_pmi1) {
    return join_pmi1();
  }
  if (by_openmpi) {
    return join_openmpi();
  }
  if (variable("PMIX_RANK")) {
    return join_pmix();
  }
  refuse_unknown_launchers();
  return join_alone();
}

}  // namespace

std::unique_ptr<session> connect() {
  std::unique_ptr<session> made = join();
  share_pulse(made->where());
  return made;
}

}  // namespace sinew::boot
