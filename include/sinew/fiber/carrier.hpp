// SPDX-License-Identifier: BSD-3-Clause
// Carriers: the kernel threads under the workers. A fiber that blocks in the kernel, or computes
// where it cannot be switched out, keeps its carrier and becomes an ordinary thread for that time;
// its worker goes on, with all its other fibers, on a spare one. Only for fibers with a thread
// pointer of their own (thread_storage.hpp), under a scheduler that is never destroyed.
#pragma once

#include <cstdint>

#include "sinew/fiber/fiber.hpp"

namespace sinew::fiber {

/// Starts a kernel thread that calls entry(argument), which does not return; 0 or an error's
/// number.
using make_carrier = int (*)(void* (*entry)(void*), void* argument) noexcept;

/// Prepares the process: the main fiber keeps the caller's thread pointer as its own, and the first
/// worker gets `idle_base`, laid out like one in spawn_options, for itself. Once, on the main
/// fiber, before it has waited for the first time. Cold.
void enable_carriers(std::uintptr_t idle_base, make_carrier make) noexcept;

/// Makes a spare carrier unless there is one; false if the system refuses. One thread
/// of the process calls it, again and again; no fiber. Cold.
[[nodiscard]] bool keep_spare_carrier() noexcept;

/// The calling fiber leaves its worker, which goes on on a spare carrier. From here on the caller
/// is a thread: self() is null, and whatever waits blocks. False, and nothing done, if it is no
/// such fiber or no spare is there. Any context of the fiber but this library's own code, also
/// handlers of signals. Warm.
[[nodiscard]] bool leave_worker() noexcept;
/// Do other fibers of the caller's worker wait for their turn? Fibers only, or their handlers.
[[nodiscard]] bool others_are_ready() noexcept;
/// The way back, to a worker that has little to do. Suspends. Warm.
void return_to_worker() noexcept;

/// What a monitor sees of a worker. All of it may be out of date.
struct worker_sight {
  const fiber* runs;  ///< null: none, or none that could leave
  int carrier;        ///< the kernel's number
};
[[nodiscard]] worker_sight look_at_worker(int worker) noexcept;

/// Returns when a worker is awake, at once if one is. For the thread of keep_spare_carrier().
void wait_for_workers() noexcept;
[[nodiscard]] bool all_workers_sleep() noexcept;

}  // namespace sinew::fiber
