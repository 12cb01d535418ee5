// SPDX-License-Identifier: BSD-3-Clause
// A rank that ends without having finalized.
#pragma once

#include "sinew/boot/session.hpp"

namespace sinew::boot {

/// From now on a process that ends with code 0, by exit() or by returning from main, but without
/// session::finalize() says so on stderr. When all ranks of the node end so, or have finalized, the
/// job ends well, as it does with MPICH. When others go on after `patience_s`, the job is aborted
/// with code 1, since they would wait for this rank for ever: Open MPI's mpirun hangs then, and
/// Hydra kills them and calls it a success. Comes after all handlers of atexit(), one of which may
/// finalize. `line` must live until the process ends. Main thread, once. Grade: cold.
void install_exit_report(session& line, double patience_s = 5);

}  // namespace sinew::boot
