// SPDX-License-Identifier: BSD-3-Clause
// Threads of the runtime's own.
#pragma once

#include <thread>

namespace sinew::base {

/// Makes a kernel thread, also where a preloaded library makes the program's threads fibers;
/// signals are blocked there, since they are the program's. To be joined by pthread_join. Returns
/// what pthread_create does: 0 or an error number. Cold.
[[nodiscard]] int start_kernel_thread(std::thread::native_handle_type& thread, void* (*run)(void*),
                                      void* argument);

/// The calling thread is one of the runtime's own: it has a name by which the function below and
/// whoever looks at the process tells it from the program's. Cold.
void name_own_thread() noexcept;
/// Threads of this process that may do something although no other one does, but for the runtime's
/// own and UCX's: all that do not sleep until another one wakes them. -1: not known. Cold.
[[nodiscard]] int threads_that_may_act() noexcept;

}  // namespace sinew::base
