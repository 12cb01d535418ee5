// The sub-commands of the `sinew` binary. Each takes the words after its own name (argv[0] is the
// sub-command's name), prints to stdout (results) and stderr (messages) and returns the exit code.
#pragma once

namespace sinew::tools {

/// `sinew bench [EXPERIMENT...]`: measures, prints a table, optionally writes JSON. Grade: cold.
int bench_main(int argc, char** argv);

}  // namespace sinew::tools
