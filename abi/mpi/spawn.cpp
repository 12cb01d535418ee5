// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 11.8: ranks that are started at run time, over the module dynamic.
#include "sinew/dynamic/spawn.hpp"

#include <algorithm>
#include <vector>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/intercomm.hpp"
#include "abi/mpi/settings.hpp"

namespace sinew::mpi {
namespace {

dynamic::command command_of(const char* command, char* const* argv, int most, MPI_Info info) {
  check_out(command, "command");
  if (most < 0) {
    fail(MPI_ERR_ARG, "the number of ranks to be spawned, %d, is negative", most);
  }
  if (most == 0) {
    fail(MPI_ERR_ARG, "no ranks are to be spawned: maxprocs is 0");
  }
  dynamic::command c{{command}, most, hints_of(info)};
  if (c.arguments.front().empty()) {
    fail(MPI_ERR_ARG, "the command to be spawned is empty");
  }
  for (; argv != MPI_ARGV_NULL && *argv != nullptr; ++argv) {
    c.arguments.emplace_back(*argv);
  }
  return c;
}

/// Of each command as many as were wanted, those that were started first.
void set_codes(int* codes, const dynamic::spawning& s) {
  if (codes == MPI_ERRCODES_IGNORE) {
    return;
  }
  for (std::size_t i = 0; i < s.wanted().size(); ++i) {
    const int started = i < s.started().size() ? s.started()[i] : 0;
    codes = std::fill_n(codes, started, MPI_SUCCESS);
    codes = std::fill_n(codes, s.wanted()[i] - started, MPI_ERR_SPAWN);
  }
}

/// `arguments` is called at the root alone; what it finds wrong all ranks are told.
template <class Arguments>
int spawn(const Arguments& arguments, int root, MPI_Comm comm, MPI_Comm* intercomm, int* codes) {
  comm_object& c = intracomm_of(comm);
  check_out(intercomm, "intercomm");
  check_root(c, root);
  *intercomm = MPI_COMM_NULL;
  const auto commands = [&] {
    try {
      return arguments();
    } catch (const failure& f) {
      throw dynamic::failure(dynamic::error_kind::caller, f.sentence, f.code);
    }
  };
  dynamic::spawning s(job_participant(), participant_of(c), comm_rank{root}, commands);
  set_codes(codes, s);
  if (s.problem()) {
    fail_on(&c, class_of(*s.problem()), "%s", s.problem()->what());
  }
  *intercomm = adopt(s.connect(), c);
  return MPI_SUCCESS;
}

}  // namespace

void find_parent() {
  comm_object& world = *process.comms[1];
  coll::intercommunicator_ref made =
      dynamic::parent(job_participant(), participant_of(world), connect_timeout_setting());
  if (made != nullptr) {
    process.parent = adopt(std::move(made), world);
    comm_of(process.parent).comm->name = "MPI_COMM_PARENT";
  }
}

int impl::Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                     MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  const auto arguments = [&] {
    return std::vector<dynamic::command>{command_of(command, argv, maxprocs, info)};
  };
  return spawn(arguments, root, comm, intercomm, array_of_errcodes);
}

int impl::Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                              const int array_of_maxprocs[], const MPI_Info array_of_info[],
                              int root, MPI_Comm comm, MPI_Comm* intercomm,
                              int array_of_errcodes[]) {
  const auto arguments = [&] {
    if (count < 1) {
      fail(MPI_ERR_ARG, "the number of commands to be spawned, %d, is not positive", count);
    }
    check_out(array_of_commands, "array_of_commands");
    check_out(array_of_maxprocs, "array_of_maxprocs");
    check_out(array_of_info, "array_of_info");
    std::vector<dynamic::command> all;
    for (int i = 0; i < count; ++i) {
      char** const argv = array_of_argv == MPI_ARGVS_NULL ? MPI_ARGV_NULL : array_of_argv[i];
      all.push_back(command_of(array_of_commands[i], argv, array_of_maxprocs[i], array_of_info[i]));
    }
    return all;
  };
  return spawn(arguments, root, comm, intercomm, array_of_errcodes);
}

}  // namespace sinew::mpi
