// SPDX-License-Identifier: BSD-3-Clause
// The processor time of each thread. Nobody counts it until somebody asks; until then it is known
// to a slice, and a switch costs nothing for it. From then on the kernel's clock is read at
// switches.
#pragma once

#include <time.h>

namespace sinew::threads {

/// On the main thread, when threads begin to be fibers: its time so far.
void begin_time() noexcept;

/// In the handler, on the thread that a slice has ended for; `more`: slices that ended unseen.
void count_slice(int more) noexcept;

/// What a system call about a clock answers, if that is one of a thread of ours; else false. Any
/// system call.
[[nodiscard]] bool time_by_call(long number, long clock, long to, long& result) noexcept;

}  // namespace sinew::threads
