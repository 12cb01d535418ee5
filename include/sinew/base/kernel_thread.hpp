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

}  // namespace sinew::base
