// SPDX-License-Identifier: BSD-3-Clause
// Our own system calls, past whatever a preloaded library puts in the way: libsinew_threads.so
// turns a program's sched_yield() into a switch of fibers, which is wrong inside the scheduler, and
// libsinew_clock.so lets virtual time pass where a program waits.
// Linked into each of our libraries and seen by nobody else.
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

namespace {

/// The kernel's answer: negative is minus the error.
long raw_call(long number, const long (&a)[6]) noexcept {
#if defined(__x86_64__)
  long result = number;
  register long r10 asm("r10") = a[3];
  register long r8 asm("r8") = a[4];
  register long r9 asm("r9") = a[5];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a[0];
  register long x1 asm("x1") = a[1];
  register long x2 asm("x2") = a[2];
  register long x3 asm("x3") = a[3];
  register long x4 asm("x4") = a[4];
  register long x5 asm("x5") = a[5];
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
#endif
}

long answer(long result) noexcept {
  if (result < 0 && result >= -4095) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

}  // namespace

extern "C" {

// It takes six arguments, however many there are: the last one lies in the caller's frame.
[[gnu::visibility("hidden"), gnu::no_sanitize_address]] long syscall(long number, ...) noexcept {
  long a[6];
  va_list rest;
  va_start(rest, number);
  for (long& each : a) {
    each = va_arg(rest, long);
  }
  va_end(rest);
  return answer(raw_call(number, a));
}

[[gnu::visibility("hidden")]] int sched_yield() noexcept {
  return static_cast<int>(answer(raw_call(SYS_sched_yield, {})));
}

[[gnu::visibility("hidden")]] int pause() {
  return static_cast<int>(answer(raw_call(SYS_ppoll, {})));
}

[[gnu::visibility("hidden")]] int poll(pollfd* files, nfds_t count, int milliseconds) {
  const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  return static_cast<int>(answer(
      raw_call(SYS_ppoll, {reinterpret_cast<long>(files), static_cast<long>(count),
                           milliseconds < 0 ? 0 : reinterpret_cast<long>(&limit), 0, 0, 0})));
}

[[gnu::visibility("hidden")]] int nanosleep(const timespec* length, timespec* left) {
  return static_cast<int>(answer(raw_call(
      SYS_nanosleep, {reinterpret_cast<long>(length), reinterpret_cast<long>(left), 0, 0, 0, 0})));
}

}  // extern "C"
