// SPDX-License-Identifier: BSD-3-Clause
// Threads that compute are interrupted now and then, so that the others of their worker run.
#pragma once

#include <signal.h>

#include <cstdint>

namespace sinew::threads {

/// The signal that ends a slice. Its default is to be ignored, and the C library never uses it.
inline constexpr int slice_signal = SIGURG;

/// As long as the kernel's own slices: threads that wait for each other in loops, as redis' do,
/// take as many turns as they would there. (The timers look at the kernel's ticks, 1 to 4 ms
/// apart.)
inline constexpr long slice_ns = 3'000'000;

/// On a worker, by a thread of the program: from now on a slice ends there after every 3 ms of
/// processor time. A worker that sleeps is never woken for it. Once per worker; later calls do
/// nothing.
void start_slices() noexcept;

/// The same on a kernel thread that is no worker yet.
void start_carrier_slices() noexcept;

/// Has a timer of start_slices() sent this?
[[nodiscard]] bool ends_slice(const siginfo_t& info) noexcept;

/// Of a worker, each modulo 2^32.
struct slice_counts {
  std::uint32_t ended = 0;
  std::uint32_t wasted = 0;  ///< of these, where others were ready but could not run
};
[[nodiscard]] slice_counts slices_of(int worker) noexcept;

/// In the handler, with all signals blocked: lets the others run, and makes a thread that has left
/// its worker a fiber again; unless the interrupted code is some in which a switch might be wrong.
/// Then it answers false, and the next slice's end finds another place.
bool end_slice(void* context) noexcept;
/// The same for a slice of the worker's timer, which it counts.
bool end_counted_slice(void* context) noexcept;

}  // namespace sinew::threads
