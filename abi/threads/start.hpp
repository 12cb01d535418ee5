// SPDX-License-Identifier: BSD-3-Clause
// When threads begin to be fibers, and when they stop.
#pragma once

#include <cstddef>

namespace sinew::threads {

/// True for a program's call of pthread_create: the scheduler runs, started by the first such call.
/// False where a kernel thread is meant: for the workers themselves, and in the child of a fork.
[[nodiscard]] bool threads_are_fibers() noexcept;

/// Threads are fibers: from the first pthread_create on, and not in the child of a fork.
[[nodiscard]] bool fibers_run() noexcept;

/// In the child of a fork() there is only the calling thread, and no worker: from there on threads
/// are threads.
[[nodiscard]] bool in_forked_child() noexcept;

/// There is no thread of the program but one. A hint.
[[nodiscard]] bool alone() noexcept;

/// Of a thread whose creator does not choose: SINEW_THREADS_STACK.
[[nodiscard]] std::size_t default_stack_bytes() noexcept;
/// What an attribute object says that nobody has changed.
[[nodiscard]] std::size_t glibc_stack_bytes() noexcept;

}  // namespace sinew::threads
