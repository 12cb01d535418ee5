// SPDX-License-Identifier: BSD-3-Clause
// The commands of the one binary. Each gets argc and argv from its own name on ("run", ...) and
// returns the exit code. A mistake on the command line is thrown as usage_failure (options.hpp)
// and a failed set-up as sinew::error; main.cpp turns both into one line on stderr.
#pragma once

#include "sinew/options.hpp"

namespace sinew::tool {

int run_main(int argc, char** argv);
int simulate_main(int argc, char** argv);
int explore_main(int argc, char** argv);
int mpiexec_main(int argc, char** argv);
int info_main(int argc, char** argv);
int env_main(int argc, char** argv);
int bench_main(int argc, char** argv);
int route_main(int argc, char** argv);
int daemon_main(int argc, char** argv);
int profile_main(int argc, char** argv);
int report_main(int argc, char** argv);
int status_main(int argc, char** argv);
int top_main(int argc, char** argv);
int gdb_main(int argc, char** argv);

[[nodiscard]] command_page run_page();
[[nodiscard]] command_page simulate_page();
[[nodiscard]] command_page explore_page();
[[nodiscard]] command_page mpiexec_page();
[[nodiscard]] command_page info_page();
[[nodiscard]] command_page env_page();
[[nodiscard]] command_page bench_page();
[[nodiscard]] command_page route_page();
[[nodiscard]] command_page profile_page();
[[nodiscard]] command_page report_page();
[[nodiscard]] command_page status_page();
[[nodiscard]] command_page top_page();
[[nodiscard]] command_page gdb_page();

}  // namespace sinew::tool
