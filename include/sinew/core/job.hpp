// SPDX-License-Identifier: BSD-3-Clause
// The process's one place in its job. The bindings (MPI, coarrays) join it, so that a program may
// use several at once; a test that runs many ranks in one process makes its runtimes itself.
#pragma once

#include "sinew/core/runtime.hpp"

namespace sinew::core {

/// The runtime of this process, opened by the binding that comes first: settings are read, the job
/// is connected, crashes will be reported. A later binding gets what is there, so `threaded()` of
/// the result may be less than `wanted`. Throws sinew::error. Cold.
[[nodiscard]] runtime& join_job(threading wanted);

/// A binding calls it when it is ready for messages, before it sends any: returns when all ranks
/// have called it, unless this binding has opened the job. (Until then nobody polls, and what
/// arrives waits; but under a second binding the others may be polling for the first.) Collective.
/// Throws. Cold.
void settle_job(runtime& joined);

/// The binding will communicate no more. The last to leave tells the launcher that this rank ends
/// in order; the runtime itself stays, since programs keep pointers into it. Throws. Cold.
void leave_job();

}  // namespace sinew::core
