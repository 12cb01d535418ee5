// Threads of the runtime's own.
#pragma once

#include <pthread.h>

namespace sinew::base {

/// A kernel thread, also where a preloaded library makes the program's threads fibers; signals are
/// blocked there, since they are the program's. To be joined by pthread_join. Returns what
/// pthread_create does. Cold.
[[nodiscard]] int start_kernel_thread(pthread_t& thread, void* (*run)(void*), void* argument);

}  // namespace sinew::base
