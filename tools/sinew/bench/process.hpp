// SPDX-License-Identifier: BSD-3-Clause
// Runs one program to its end, with a limit, and leaves nothing behind.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sinew::tool {

struct command {
  std::vector<std::string> words;                                ///< words[0]: path of the program
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours
  double timeout_s = 60;
};

struct command_result {
  int exit_code = -1;  ///< 128+signal when a signal ended it; 127 when it could not be started
  bool timed_out = false;
  bool interrupted = false;  ///< ^C or SIGTERM arrived meanwhile
  double wall_s = 0;         ///< from before fork to after wait
  std::string output;        ///< its stdout, cut to 1 MiB
  std::string errors;        ///< its stderr, cut to 1 MiB
  [[nodiscard]] bool ok() const noexcept { return exit_code == 0 && !timed_out && !interrupted; }
};

/// Makes this process the new parent of orphans and notes ^C instead of dying. Call once, before
/// the first run_command. Grade: cold.
void adopt_orphans();

/// Starts the command in its own process group and waits for its end; at the limit, or after ^C,
/// ends the group. Whatever the command left running (launchers put ranks into groups of their own)
/// has become our child by then, and is ended too. Suspends. Throws nothing.
command_result run_command(const command& what);

/// Whether ^C or SIGTERM has been seen.
bool interrupted() noexcept;

}  // namespace sinew::tool
