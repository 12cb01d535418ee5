// SPDX-License-Identifier: BSD-3-Clause
// System calls past the C library: no cancellation, no errno, and never ourselves.
#pragma once

#include <sys/syscall.h>

namespace sinew::threads {

/// The kernel's answer: negative is minus the error.
inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                     long f = 0) noexcept {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline void raw_yield() noexcept { raw_call(SYS_sched_yield); }

}  // namespace sinew::threads
