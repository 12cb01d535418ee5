// SPDX-License-Identifier: BSD-3-Clause
// A last word from a rank that crashes.
#pragma once

#include <string_view>

#include "sinew/boot/session.hpp"

namespace sinew::boot {

/// To `sinew run`, by the rank's socket: it crashes now, and stands still. The launcher looks at
/// its stack, and tells the calls with functions and lines; or it cannot, and the rank tells
/// addresses.
inline constexpr std::string_view crashing = "sinew_crashing";
inline constexpr std::string_view crash_is_told = "cmd=sinew_crash_told rc=0\n";
inline constexpr std::string_view crash_is_not_told = "cmd=sinew_crash_told rc=1\n";

/// From now on SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT write rank, host, pid, signal, address
/// and a backtrace to stderr and then take their default action. A signal for which the program
/// has a handler of its own (or which it ignores) is left alone, and so is an alternate stack of
/// its own. Idempotent; main thread, once the rank is known; the alternate stack serves only the
/// calling thread. Grade: cold.
void install_crash_report(const place& where);

}  // namespace sinew::boot
