// SPDX-License-Identifier: BSD-3-Clause
// The floor: what the machine itself allows, measured in the same run as everything else.
#pragma once

namespace sinew::tool {

/// Measures what the words name and prints it as measuring programs do ("@ case metric unit params
/// value"): "line" (one cache line's one-way trip, alone and in a ring), "line-stream", "memcpy"
/// with "sizes=N,N", "futex-switch", "fork-exec", "window". Forks one partner process at a time and
/// waits for its end. Run it as a process of its own: it pins itself. Grade: cold. Returns an exit
/// code.
int floor_probe(int argc, char** argv);

}  // namespace sinew::tool
