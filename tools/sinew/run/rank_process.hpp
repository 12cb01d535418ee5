// SPDX-License-Identifier: BSD-3-Clause
// Starting one rank: everything between the decision and its exec.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string>
#include <vector>

namespace sinew::tool {

/// All that exec needs, prepared before, because between vfork and exec nothing may be allocated.
struct start_plan {
  std::string program;  ///< a path, already looked up
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::string directory;                 ///< empty: stay
  std::array<int, 3> streams = {0, 1, 2};
  std::vector<int> inherited;  ///< descriptors kept open although close-on-exec
  std::vector<int> cpus;       ///< empty: no binding
  sigset_t signal_mask{};
  rlimit open_files{};
  std::atomic<pid_t>* pid_slot = nullptr;  ///< the reaper's copy of the pid, set before exec
};

/// What failed.
enum class start_stage { process, streams, directory, binding, program };

struct start_result {
  pid_t pid = -1;
  int failure = 0;  ///< errno
  start_stage stage = start_stage::process;
};

/// Starts the rank as leader of its own process group; it is killed when the launcher dies.
[[nodiscard]] start_result start_rank(const start_plan& plan);
/// Why it did not start, for people, and the exit code that a shell would give.
struct start_failure {
  int exit_code = 126;
  std::string text;
};
[[nodiscard]] start_failure explain(const start_plan& plan, const start_result& result);

/// The exit code that shells give to a failed exec: 127 not found, 126 otherwise.
struct program_lookup {
  std::string path;
  int exit_code = 0;
  std::string complaint;
};
/// Like a shell: by path, or along PATH. Relative names are those of `directory`, where the program
/// will run, and if none is there those of this process; empty: of this process alone.
[[nodiscard]] program_lookup find_program(const std::string& name,
                                          const std::string& directory = {});

/// "SIGSEGV (segmentation fault)".
[[nodiscard]] std::string signal_name(int signal);

}  // namespace sinew::tool
