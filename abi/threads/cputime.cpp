// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/cputime.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "abi/threads/files.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/record.hpp"
#include "abi/threads/refuse.hpp"
#include "abi/threads/signals.hpp"
#include "abi/threads/slices.hpp"
#include "abi/threads/start.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/thread_storage.hpp"

namespace sinew::threads {
namespace {

constexpr long ns_per_s = 1'000'000'000;

/// The kernel's numbers of a thread's clocks: its own number, inverted, above three bits that say
/// which clock it is (posix-timers of Linux).
constexpr int per_thread = 4;
constexpr int sum_of_times = 2;

constexpr clockid_t clock_of(int thread) noexcept {
  return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3U | per_thread | sum_of_times);
}
constexpr bool is_of_thread(clockid_t clock) noexcept {
  return clock == CLOCK_THREAD_CPUTIME_ID ||
         (clock < 0 && (clock & 7) == (per_thread | sum_of_times));
}
constexpr int thread_of_clock(clockid_t clock) noexcept {
  return clock == CLOCK_THREAD_CPUTIME_ID ? 0 : static_cast<int>(~(clock >> 3));
}

/// Of a kernel thread; 0: the caller's.
long kernel_time(int thread) noexcept {
  timespec used{};
  raw_call(SYS_clock_gettime, thread == 0 ? CLOCK_THREAD_CPUTIME_ID : clock_of(thread),
           reinterpret_cast<long>(&used));
  return used.tv_sec * ns_per_s + used.tv_nsec;
}

/// Between the two the kernel thread belongs to nobody, or the reading is for both.
void stop(record& r, long now) noexcept {
  const long since = r.runs_since_ns.exchange(-1, std::memory_order_acq_rel);
  if (since >= 0) {
    SINEW_ASSERT(now >= since);  // of one kernel thread's clock
    r.used_ns.fetch_add(now - since, std::memory_order_acq_rel);
  }
  r.time_turns.fetch_add(1, std::memory_order_acq_rel);
}
void start(record& r, long now) noexcept {
  r.runs_since_ns.store(now, std::memory_order_release);
  r.time_turns.fetch_add(1, std::memory_order_acq_rel);
}

void at_switch(std::uintptr_t from, std::uintptr_t to) noexcept {
  const long now = kernel_time(0);
  stop(*record_of(static_cast<pthread_t>(from)), now);
  start(*record_of(static_cast<pthread_t>(to)), now);
}

/// From now on all switches are seen. The caller's time runs from here on; others that run right
/// now are counted by slices until they are switched out.
void count_from_now() noexcept {
  fiber::watch_storage_switches(at_switch);
  long unknown = -1;
  const long now = kernel_time(0);
  // If the caller has been switched in since, that has set it.
  mine.runs_since_ns.compare_exchange_strong(unknown, now, std::memory_order_acq_rel);
}

/// Nanoseconds; consistent, unless the thread is switched at each of many looks.
long time_of(const record& r) noexcept {
  count_from_now();
  constexpr int most_looks = 1000;
  for (int look = 0; look < most_looks; ++look) {
    const std::uint32_t turn = r.time_turns.load(std::memory_order_acquire);
    const long used = r.used_ns.load(std::memory_order_acquire);
    const long since = r.runs_since_ns.load(std::memory_order_acquire);
    long more = 0;
    if (since >= 0) {
      const fiber::fiber* const f = r.fiber.load();
      const int thread = &r == &mine || f == nullptr ? 0 : fiber::thread_running(*f);
      if (&r != &mine && thread == 0) {
        continue;  // just being switched
      }
      more = kernel_time(thread) - since;
    }
    if (r.time_turns.load(std::memory_order_acquire) == turn) {
      return used + more;
    }
  }
  return r.used_ns.load(std::memory_order_acquire);
}

/// Whose time a clock of one thread tells; null if it is none of ours.
const record* thread_for(clockid_t clock) noexcept {
  if (!fibers_run() || !is_of_thread(clock)) {
    return nullptr;
  }
  const int number = thread_of_clock(clock);
  return number == 0 ? (mine.ours ? &mine : nullptr) : thread_with(number);
}

int clock_call(long number, clockid_t clock, timespec* to) noexcept {
  return static_cast<int>(answer_of(raw_call(number, clock, reinterpret_cast<long>(to))));
}

timeval to_timeval(long ns) noexcept { return {ns / ns_per_s, ns % ns_per_s / 1000}; }

}  // namespace

void begin_time() noexcept {
  mine.used_ns.store(0, std::memory_order_relaxed);
  mine.runs_since_ns.store(-1, std::memory_order_relaxed);
  mine.used_ns.store(kernel_time(0), std::memory_order_relaxed);
}

void count_slice(int more) noexcept {
  if (mine.runs_since_ns.load(std::memory_order_relaxed) < 0) {
    mine.used_ns.fetch_add(slice_ns * (1L + more), std::memory_order_relaxed);
  }
}

bool time_by_call(long number, long clock, long to, long& result) noexcept {
  const record* const r =
      number == SYS_clock_gettime ? thread_for(static_cast<clockid_t>(clock)) : nullptr;
  if (r == nullptr) {
    return false;
  }
  const long ns = time_of(*r);
  *reinterpret_cast<timespec*>(to) = {ns / ns_per_s, ns % ns_per_s};
  result = 0;
  return true;
}

}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int clock_gettime(clockid_t clock, timespec* to) noexcept {
  if (is_of_thread(clock)) {
    long result = 0;
    return time_by_call(SYS_clock_gettime, clock, reinterpret_cast<long>(to), result)
               ? 0
               : clock_call(SYS_clock_gettime, clock, to);
  }
  return real().clock_gettime(clock, to);
}

int clock_getres(clockid_t clock, timespec* to) noexcept {
  return clock_call(SYS_clock_getres,
                    thread_for(clock) != nullptr ? CLOCK_THREAD_CPUTIME_ID : clock, to);
}

int pthread_getcpuclockid(pthread_t thread, clockid_t* clock) noexcept {
  const record* const r = record_of(thread);
  if (!r->ours || !fibers_run()) {
    return real().getcpuclockid(thread, clock);
  }
  *clock = clock_of(r->id);
  return 0;
}

int timer_create(clockid_t clock, sigevent* how, timer_t* timer) noexcept {
  if (fibers_run() && is_of_thread(clock)) {
    errno = refused("a timer that counts the processor time of one thread", ENOTSUP);
    return -1;
  }
  return real().timer_create(clock, how, timer);
}

/// The kernel tells of the worker; the times are the thread's, and it is not told how much of them
/// the kernel has used.
int getrusage(__rusage_who_t who, rusage* used) noexcept {
  const long code = answer_of(raw_call(SYS_getrusage, who, reinterpret_cast<long>(used)));
  if (code == 0 && who == RUSAGE_THREAD && thread_for(CLOCK_THREAD_CPUTIME_ID) != nullptr) {
    used->ru_utime = to_timeval(time_of(mine));
    used->ru_stime = {};
  }
  return static_cast<int>(code);
}

}  // extern "C"
