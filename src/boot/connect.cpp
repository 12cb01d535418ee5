#include "boot/environment.hpp"
#include "boot/ways_in.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/session.hpp"

namespace sinew::boot {
namespace {

// Variables of launchers that start us in a way we do not understand. Without this a job of N
// would silently become N jobs of one.
void refuse_unknown_launchers() {
  SINEW_CHECK(!variable(launcher_wire::pmi_rank), "PMI_RANK is set but neither PMI_FD nor PMI_PORT",
              "the launcher's connection got lost, or the variable was set by hand",
              "start with the launcher itself, or run `env -u PMI_RANK PROGRAM`");
  const auto steps = variable("SLURM_STEP_NUM_TASKS");
  SINEW_CHECK(!variable("SLURM_STEP_ID") || !variable("SLURM_PROCID") || !steps || *steps == "1",
              "srun started " + steps.value_or("") + " tasks without telling them of each other",
              "SLURM_STEP_NUM_TASKS is set but there is no PMI connection",
              "use srun --mpi=pmix or --mpi=pmi2, or `sinew run` in the allocation");
}

}  // namespace

std::unique_ptr<session> connect() {
  const bool by_sinew = variable(launcher_wire::job).has_value();
  const bool by_pmi1 = variable(launcher_wire::pmi_fd) || variable(launcher_wire::pmi_port);
  const bool by_openmpi = variable("OMPI_COMM_WORLD_RANK").has_value();
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

}  // namespace sinew::boot
