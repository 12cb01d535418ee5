// SPDX-License-Identifier: BSD-3-Clause
// Stacks that ran over, and fibers that threw: say which fiber it was, then end the process.
#pragma once

#include "fiber/control.hpp"

namespace sinew::fiber {

[[noreturn]] void report_overflow(const fiber& f, const void* address) noexcept;

/// Has `f`, which is about to park, stayed on its stack? That its stack pointer still is there, the
/// switch checks. Hot.
inline void check_stack(const fiber& f) noexcept {
  if (*f.canary != canary_value) [[unlikely]] {
    report_overflow(f, f.low);
  }
}

/// Handles SIGSEGV in guard pages, and std::terminate in fibers; whatever else there is goes to
/// the handlers that were there before. Idempotent. Cold.
void install_reports();
/// And takes them away again, if they are still in place.
void remove_reports() noexcept;

}  // namespace sinew::fiber
