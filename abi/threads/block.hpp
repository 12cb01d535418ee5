// SPDX-License-Identifier: BSD-3-Clause
// The thread-local storage of a thread that is a fiber: the same block that glibc gives a thread,
// so everything that lies at the thread pointer is where libraries and compilers expect it.
#pragma once

#include "abi/threads/record.hpp"

namespace sinew::threads {

/// A block for a new thread, reused if one is free, whose record is ready to be filled in. Null
/// without memory. Any context.
[[nodiscard]] record* get_block() noexcept;
/// The thread has been joined or was never started: nobody will ask for it again.
void put_block(record& r) noexcept;
/// The same for a detached thread, called by itself as the last thing that it does: the block is
/// used again when the fiber has left it.
void leave_block(record& r) noexcept;

/// For a kernel thread that is not the C library's: fresh, and never one of the above. Null without
/// memory. The kernel writes the thread's number to number_in() when it begins, 0 when it has
/// ended.
[[nodiscard]] record* make_kernel_block() noexcept;
void free_kernel_block(record& r) noexcept;
[[nodiscard]] pid_t* number_in(record& r) noexcept;

/// On the block, first of all: the C library's tables are set up, and thread_local objects have
/// their first values if the block has served another thread.
void open_block() noexcept;
/// On the block: destructors of thread_local objects and of pthread keys.
void close_block();

}  // namespace sinew::threads
