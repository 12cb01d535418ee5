// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for signals, and jumps out of handlers.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>

#include "abi/threads/moment.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/signal_set.hpp"
#include "abi/threads/signals.hpp"
#include "abi/threads/sleep.hpp"
#include "abi/threads/start.hpp"
#include "abi/threads/waiting.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/fiber/fiber.hpp"

namespace sinew::threads {
namespace {

bool waits_here() noexcept { return mine.ours && fibers_run() && fiber::self() != nullptr; }

int fail(int code) noexcept {
  errno = code;
  return -1;
}

/// While it lives, signals of the set find their way to the caller although it blocks them.
struct awaiting {
  explicit awaiting(std::uint64_t set) { mine.awaited_signals.store(set); }
  ~awaiting() { mine.awaited_signals.store(0); }
  awaiting(const awaiting&) = delete;
  awaiting& operator=(const awaiting&) = delete;
};

/// One of the set that waits for the caller or the process, here or (blocked since before there
/// were fibers) in the kernel; 0 if there is none.
int take_one(std::uint64_t set, siginfo_t* info) noexcept {
  for (std::atomic<std::uint64_t>* from : {&mine.pending, &undelivered_signals}) {
    const std::uint64_t there = from->load() & set;
    const int number = there == 0 ? 0 : std::countr_zero(there) + 1;
    if (number != 0 && (from->fetch_and(~bit_of(number)) & bit_of(number)) != 0) {
      if (info != nullptr) {
        *info = details_of(number);
      }
      return number;
    }
  }
  const timespec at_once{};
  const long got =
      raw_call(SYS_rt_sigtimedwait, reinterpret_cast<long>(&set), reinterpret_cast<long>(info),
               reinterpret_cast<long>(&at_once), sizeof set);
  return got > 0 ? static_cast<int>(got) : 0;
}

int await_one(std::uint64_t set, siginfo_t* info, moment until) {
  constexpr moment longest_nap_ns = 1'000'000;
  moment nap_ns = 20'000;
  const awaiting these(set);
  for (;;) {
    ::pthread_testcancel();
    if (const int got = take_one(set, info); got != 0) {
      return got;
    }
    if (take_signals() != handled::nothing) {
      return fail(EINTR);
    }
    const auto now = static_cast<moment>(now_ns());
    if (now >= until) {
      return fail(EAGAIN);
    }
    // Nobody tells us of those that the kernel keeps.
    const moment look_again = (set & kept_by_kernel()) != 0 ? now + nap_ns : never;
    (void)wait_interruptibly("sigwait", std::min(until, look_again));
    nap_ns = std::min(2 * nap_ns, longest_nap_ns);
  }
}

/// Until a handler has run.
int await_handler() {
  while (take_signals() == handled::nothing) {
    ::pthread_testcancel();
    (void)wait_interruptibly("pause", never);
  }
  return fail(EINTR);
}

using jump = void(struct __jmp_buf_tag*, int);

/// A jump to where the mask was saved leaves all handlers, and the signals that they block.
[[noreturn]] void jump_by(const char* name, struct __jmp_buf_tag* to, int value) noexcept {
  if (mine.handlers != 0 && to->__mask_was_saved != 0) {
    mine.handlers = 0;
    mine.blocked.store(mine.blocked_outside);
  }
  real_call<jump>(name)(to, value);
  std::abort();  // not reached
}

}  // namespace
}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* limit) {
  static auto* const call = real_call<decltype(::sigtimedwait)>("sigtimedwait");
  if (!waits_here()) {
    return call(set, info, limit);
  }
  const int error = errno;
  const int got = await_one(bits_of(*set), info, limit == nullptr ? never : moment_in(*limit));
  errno = got > 0 ? error : errno;
  return got;
}

int sigwaitinfo(const sigset_t* set, siginfo_t* info) { return sigtimedwait(set, info, nullptr); }

int sigwait(const sigset_t* set, int* signal) {
  const int error = errno;
  int got;
  do {
    got = sigtimedwait(set, nullptr, nullptr);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return errno;
  }
  errno = error;
  *signal = got;
  return 0;
}

int pause() {
  static auto* const call = real_call<decltype(::pause)>("pause");
  return waits_here() ? await_handler() : call();
}

int sigsuspend(const sigset_t* set) {
  static auto* const call = real_call<decltype(::sigsuspend)>("sigsuspend");
  if (!waits_here()) {
    return call(set);
  }
  return with_mask(set, await_handler);
}

// The C library has one function under these names, and one that checks the target.
void longjmp(struct __jmp_buf_tag* to, int value) noexcept { jump_by("longjmp", to, value); }
void _longjmp(struct __jmp_buf_tag* to, int value) noexcept { jump_by("_longjmp", to, value); }
void siglongjmp(struct __jmp_buf_tag* to, int value) noexcept { jump_by("siglongjmp", to, value); }
[[noreturn]] void __longjmp_chk(struct __jmp_buf_tag* to, int value) noexcept;
void __longjmp_chk(struct __jmp_buf_tag* to, int value) noexcept {
  jump_by("__longjmp_chk", to, value);
}

}  // extern "C"
