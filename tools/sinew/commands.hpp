// The commands of the one binary. Each gets argc and argv from its own name on ("run", ...) and
// returns the exit code. Errors of usage: one line and exit 2 (see options.hpp).
#pragma once

namespace sinew::tool {

int run_main(int argc, char** argv);
int info_main(int argc, char** argv);
int bench_main(int argc, char** argv);  ///< may be missing from a build; main.cpp copes

/// The last failure of usage: "sinew COMMAND: text" and where to find help; returns 2.
int usage_error(const char* command, const char* text);

}  // namespace sinew::tool
