// SPDX-License-Identifier: BSD-3-Clause
// Futexes of the program itself: what std::atomic::wait, std::future, function-local statics and
// Rust's library use. They reach the kernel through syscall(), which can be replaced; a library
// that has the instruction inlined, as OpenMP's, blocks its worker: see monitor.cpp.
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include "abi/threads/cputime.hpp"
#include "abi/threads/files.hpp"
#include "abi/threads/moment.hpp"
#include "abi/threads/parking_lot.hpp"
#include "abi/threads/priority.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/record.hpp"
#include "abi/threads/refuse.hpp"
#include "abi/threads/signals.hpp"
#include "abi/threads/start.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/fiber/fiber.hpp"

namespace sinew::threads {
namespace {

constexpr int futex_lock_pi2 = 13;  // not in older headers

struct futex_call {
  std::atomic<std::uint32_t>* word;
  int operation;
  std::uint32_t value;
  const timespec* time;  ///< of waits; of others a number

  [[nodiscard]] int command() const noexcept { return operation & FUTEX_CMD_MASK; }
  [[nodiscard]] bool shared() const noexcept { return (operation & FUTEX_PRIVATE_FLAG) == 0; }
};

moment end_of(const futex_call& call) noexcept {
  if (call.time == nullptr) {
    return never;
  }
  if (call.command() == FUTEX_WAIT) {
    return moment_in(*call.time);
  }
  const bool real_time = (call.operation & FUTEX_CLOCK_REALTIME) != 0;
  return moment_of(*call.time, real_time ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}

/// 0 or minus the error.
long wait(const futex_call& call) {
  // libstdc++ waits for futures without the private flag, so these are ours too; but another
  // process may be meant, which cannot release us: then the caller looks again now and then.
  constexpr moment look_again_ns = 100'000'000;
  const moment until = end_of(call);
  const moment next_look = call.shared() ? static_cast<moment>(now_ns()) + look_again_ns : never;
  const moment end = until < next_look ? until : next_look;
  switch (wait_while(*call.word, call.value, "futex", end, true)) {
    case woken::interrupted:
      return take_signals() == handled::cut_short ? -EINTR : 0;
    case woken::changed:
      return -EAGAIN;
    case woken::timed_out:
      return until < next_look ? -ETIMEDOUT : 0;
    default:
      return 0;
  }
}

/// What fibers and threads of this library wait for, and then what the kernel knows.
long wake(const futex_call& call, long arguments[6]) noexcept {
  // Whoever waits for other bits looks and waits again; else it might be woken in another's place.
  const bool some_bits = call.command() == FUTEX_WAKE_BITSET &&
                         static_cast<std::uint32_t>(arguments[5]) != FUTEX_BITSET_MATCH_ANY;
  const unsigned here =
      std::min(release(call.word, some_bits ? all_of_them : call.value), call.value);
  if (here >= call.value) {
    return here;
  }
  arguments[2] = static_cast<long>(call.value - here);
  const long there = raw_call(SYS_futex, arguments[0], arguments[1], arguments[2], arguments[3],
                              arguments[4], arguments[5]);
  return there < 0 ? there : there + here;
}

long futex(long arguments[6]) {
  const futex_call call{reinterpret_cast<std::atomic<std::uint32_t>*>(arguments[0]),
                        static_cast<int>(arguments[1]), static_cast<std::uint32_t>(arguments[2]),
                        reinterpret_cast<const timespec*>(arguments[3])};
  switch (call.command()) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      if (fiber::self() != nullptr) {
        return wait(call);
      }
      break;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      return wake(call, arguments);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      // Whom the kernel would move to another word, we wake for nothing: it looks and goes there.
      release(call.word, all_of_them);
      break;
    case FUTEX_WAKE_OP: {
      const long woken = raw_call(SYS_futex, arguments[0], arguments[1], arguments[2], arguments[3],
                                  arguments[4], arguments[5]);
      if (woken < 0) {
        return woken;
      }
      return woken + release(call.word, all_of_them) +
             release(reinterpret_cast<void*>(arguments[4]), all_of_them);
    }
    case FUTEX_LOCK_PI:
    case futex_lock_pi2:
    case FUTEX_TRYLOCK_PI:
    case FUTEX_UNLOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_CMP_REQUEUE_PI:
      if (mine.ours && fibers_run()) {
        return -refused("futexes that the kernel gives an owner (FUTEX_LOCK_PI)", ENOSYS);
      }
      break;
    default:
      break;
  }
  return raw_call(SYS_futex, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                  arguments[5]);
}

}  // namespace
}  // namespace sinew::threads

extern "C" long syscall(long number, ...) noexcept {
  long arguments[6];
  va_list rest;
  va_start(rest, number);
  for (long& each : arguments) {
    each = va_arg(rest, long);
  }
  va_end(rest);
  // The address that the kernel clears at a thread's end stays the worker's.
  if (number == SYS_gettid || (number == SYS_set_tid_address && sinew::fiber::self() != nullptr)) {
    return ::gettid();
  }
  if (number == SYS_close) {
    return ::close(static_cast<int>(arguments[0]));
  }
  if (number == SYS_close_range) {
    return ::close_range(static_cast<unsigned>(arguments[0]), static_cast<unsigned>(arguments[1]),
                         static_cast<int>(arguments[2]));
  }
  if (number == SYS_tgkill) {
    return ::tgkill(static_cast<pid_t>(arguments[0]), static_cast<pid_t>(arguments[1]),
                    static_cast<int>(arguments[2]));
  }
  if (sinew::threads::scheduling_of_fiber(number, arguments[0], arguments[1]) ==
      sinew::threads::scheduling::ignored) {
    return 0;
  }
  if (number == SYS_set_robust_list && sinew::threads::mine.ours && sinew::threads::fibers_run()) {
    return sinew::threads::answer_of(-sinew::threads::refused(
        "a list of robust futexes, which the kernel keeps for its own threads", ENOSYS));
  }
  if (long told = 0; sinew::threads::time_by_call(number, arguments[0], arguments[1], told)) {
    return told;
  }
  const long result = number == SYS_futex ? sinew::threads::futex(arguments)
                                          : sinew::threads::raw_call(
                                                number, arguments[0], arguments[1], arguments[2],
                                                arguments[3], arguments[4], arguments[5]);
  if (number == SYS_fcntl || number == SYS_ioctl) {
    sinew::threads::doubt_blocking();
  }
  return sinew::threads::answer_of(result);
}
