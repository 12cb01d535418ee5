// The floor: what the machine itself allows, measured in the same run as everything else.
#pragma once

namespace sinew::tools {

/// Measures one cache line's one-way trip, a ring of lines, memcpy and a futex switch, and prints
/// them as measuring programs do ("@ case metric unit params value"). Forks one partner process;
/// ends it before returning. Run it as a program of its own: it pins itself. Grade: cold.
/// Returns an exit code.
int floor_probe(int argc, char** argv);

}  // namespace sinew::tools
