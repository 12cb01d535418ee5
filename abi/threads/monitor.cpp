// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/monitor.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include "abi/threads/block.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/refuse.hpp"
#include "abi/threads/signal_set.hpp"
#include "abi/threads/signals.hpp"
#include "abi/threads/slices.hpp"
#include "abi/threads/waiting.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/carrier.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::threads {
namespace {

/// Between looks: a hundredth of the time in which nobody has been seen to block, within limits. A
/// look costs 20 to 40 us where machines are virtual, nearly all of it for waking up.
constexpr long tick_ns = 5'000'000;
constexpr long longest_tick_ns = 60'000'000;
constexpr long ticks_in_calm = 100;
/// After a look that found a stuck worker: more will follow.
constexpr long short_tick_ns = 500'000;
/// So long a fiber computes where it cannot be switched out, and others wait, before it is asked to
/// leave its worker.
constexpr long patience_ns = 50'000'000;

/// A system call in which a thread was seen, as the kernel tells it; `number` -1: none.
struct system_call {
  long number = -1;
  std::array<unsigned long, 6> arguments{};
  unsigned long sp = 0;
  unsigned long pc = 0;

  friend bool operator==(const system_call&, const system_call&) = default;
};

/// Its address goes with the signal that tells a thread of its cancellation.
char cancellation;

/// What goes with a signal: it must stay until the signal has arrived, which it may do late. So
/// there are many, used in turn.
constinit std::array<system_call, 1024> sent{};

struct watch {
  const fiber::fiber* runs = nullptr;
  int carrier = 0;
  long computes_ns = 0;  ///< so long it was the same, and its slices were wasted
  slice_counts slices;   ///< of the worker
  system_call call;
};

enum class kernel_says : std::uint8_t { computes, blocks, unknown };

kernel_says ask_kernel(int thread, system_call& call) noexcept {
  std::array<char, 64> path{};
  (void)std::snprintf(path.data(), path.size(), "/proc/self/task/%d/syscall", thread);
  const long file = raw_call(SYS_open, reinterpret_cast<long>(path.data()), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return kernel_says::unknown;
  }
  std::array<char, 256> text{};
  const long bytes = raw_call(SYS_read, file, reinterpret_cast<long>(text.data()), text.size() - 1);
  raw_call(SYS_close, file);
  if (bytes <= 0) {
    return kernel_says::unknown;
  }
  auto& a = call.arguments;
  const int fields = std::sscanf(text.data(), "%ld %lx %lx %lx %lx %lx %lx %lx %lx", &call.number,
                                 &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &call.sp, &call.pc);
  return fields == 9 && call.number >= 0 ? kernel_says::blocks : kernel_says::computes;
}

void send_to(int thread, const system_call& call) noexcept {
  static std::size_t turn = 0;
  system_call& kept = sent[turn++ % sent.size()];
  kept = call;
  siginfo_t info{};
  info.si_signo = slice_signal;
  info.si_code = SI_QUEUE;
  info.si_value.sival_ptr = &kept;
  raw_call(SYS_rt_tgsigqueueinfo, raw_call(SYS_getpid), thread, slice_signal,
           reinterpret_cast<long>(&info));
}

enum class sight : std::uint8_t { runs, blocks, stuck };

/// Stuck: in the same system call at two looks. Who makes others wait for long in none is asked to
/// leave.
sight look_at(int worker, watch& w, long since_ns) noexcept {
  const fiber::worker_sight now = fiber::look_at_worker(worker);
  const slice_counts slices = slices_of(worker);
  if (now.runs == nullptr || now.runs != w.runs || now.carrier != w.carrier) {
    w = {now.runs, now.carrier, 0, slices, {}};
    return sight::runs;
  }
  // Where a slice has ended since the last look nobody blocks, which is cheaper to know.
  const bool busy = slices.ended != w.slices.ended;
  const bool wasted = slices.wasted != w.slices.wasted;
  w.slices = slices;
  system_call call;
  const bool blocks = !busy && ask_kernel(now.carrier, call) == kernel_says::blocks;
  const bool same = blocks && call == w.call;
  w.call = blocks ? call : system_call{};
  if (wasted) {
    w.computes_ns += since_ns;
  } else if (blocks || busy) {
    w.computes_ns = 0;
  }
  const sight seen = blocks ? sight::blocks : sight::runs;
  if (!same && w.computes_ns < patience_ns) {
    return seen;
  }
  w.computes_ns = 0;
  if (!fiber::keep_spare_carrier()) {
    (void)refused("another kernel thread, which the system refuses (see ulimit -u)", 0);
    return seen;
  }
  send_to(now.carrier, w.call);
  return same ? sight::stuck : seen;
}

void sleep_for(long ns) noexcept {
  const timespec tick{0, ns};
  // Wait: the monitor's, until its next look.
  raw_call(SYS_nanosleep, reinterpret_cast<long>(&tick), 0);
}

[[noreturn]] void* watch_workers(void*) {
  std::vector<watch> all(static_cast<std::size_t>(fiber::scheduler::of_process()->workers()));
  long calm_ns = 0;
  bool slept = false;
  for (long tick = tick_ns;;) {
    sleep_for(tick);
    // Two looks, since a worker that wakes up while the monitor rests has to make a system call.
    const bool sleep = fiber::all_workers_sleep();
    if (sleep && slept) {
      fiber::wait_for_workers();
    }
    slept = sleep && !slept;
    sight worst = sight::runs;
    for (std::size_t i = 0; i < all.size() && !sleep && !alone(); ++i) {
      worst = std::max(worst, look_at(static_cast<int>(i), all[i], tick));
    }
    calm_ns = worst == sight::runs ? std::min(calm_ns + tick, ticks_in_calm * longest_tick_ns) : 0;
    tick = worst == sight::stuck ? short_tick_ns : std::max(calm_ns / ticks_in_calm, tick_ns);
  }
}

/// The C library's own threads, not the program's.
int make_thread(void* (*entry)(void*), void* argument) noexcept {
  pthread_attr_t detached;
  ::pthread_attr_init(&detached);
  ::pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const int code = real().create(&thread, &detached, entry, argument);
  ::pthread_attr_destroy(&detached);
  return code;
}

struct carrier_start {
  void* (*entry)(void*);
  void* argument;
};

int make_carrier(void* (*entry)(void*), void* argument) noexcept {
  auto* const start = new (std::nothrow) carrier_start{entry, argument};
  if (start == nullptr) {
    return ENOMEM;
  }
  const auto begin = [](void* given) -> void* {
    const carrier_start all = *static_cast<carrier_start*>(given);
    delete static_cast<carrier_start*>(given);
    start_carrier_slices();
    return all.entry(all.argument);
  };
  const int code = make_thread(begin, start);
  if (code != 0) {
    delete start;
  }
  return code;
}

const system_call& call_of(const siginfo_t& info) noexcept {
  return *static_cast<const system_call*>(info.si_value.sival_ptr);
}

/// Where the signal has broken off the very call that it was sent for, and the kernel would have
/// the program see that, the call is made again. Its limit of time, if it has one, begins anew.
void repeat_call(const system_call& call, mcontext_t& registers) noexcept {
  auto& r = registers.gregs;
  const auto word = [&r](int which) { return static_cast<unsigned long>(r[which]); };
  const std::array<unsigned long, 6> now = {word(REG_RDI), word(REG_RSI), word(REG_RDX),
                                            word(REG_R10), word(REG_R8),  word(REG_R9)};
  constexpr std::string_view instruction = "\x0f\x05";
  if (call.number < 0 || r[REG_RAX] != -EINTR || word(REG_RIP) != call.pc ||
      word(REG_RSP) != call.sp || now != call.arguments ||
      std::memcmp(reinterpret_cast<const char*>(call.pc) - instruction.size(), instruction.data(),
                  instruction.size()) != 0) {
    return;
  }
  r[REG_RAX] = call.number;
  r[REG_RIP] -= static_cast<greg_t>(instruction.size());
}

/// Is the interrupted code that of a fiber, outside the scheduler?
bool could_leave(const void* context) noexcept {
  return fibers_run() && mine.ours && !mine.away && !mine.stays && fiber::self() != nullptr &&
         !in_own_text(context);
}

}  // namespace

void start_monitor() noexcept {
  SINEW_EXPECT(mine.main && fibers_run());
  record* const idle = get_block();
  if (idle == nullptr) {
    (void)refused("a monitor of stuck workers, for which there is no memory", 0);
    return;
  }
  fiber::enable_carriers(reinterpret_cast<std::uintptr_t>(thread_of(*idle)), make_carrier);
  if (make_thread(watch_workers, nullptr) != 0) {
    (void)refused("a monitor of stuck workers, for which the system refuses a thread", 0);
  }
}

bool is_from_monitor(const siginfo_t& info) noexcept {
  const auto* const at = static_cast<const system_call*>(info.si_value.sival_ptr);
  return info.si_code == SI_QUEUE && at >= sent.data() && at < sent.data() + sent.size();
}

bool makes_others_wait(const void* context) noexcept {
  return could_leave(context) && fiber::others_are_ready();
}

void leave_if_stuck(const siginfo_t& info, void* context) noexcept {
  SINEW_EXPECT(is_from_monitor(info) && context != nullptr);
  const system_call call = call_of(info);
  auto& at = *static_cast<ucontext_t*>(context);
  const bool should =
      call.number >= 0 ? could_leave(context) : makes_others_wait(context) && !end_slice(context);
  if (should) {
    mine.away = fiber::leave_worker();
  }
  repeat_call(call, at.uc_mcontext);
}

void cancel_in_kernel(record& r) noexcept {
  r.cancelled.store(true, std::memory_order_relaxed);
  const fiber::fiber* const f = r.fiber.load();
  const int thread = f == nullptr ? 0 : fiber::thread_running(*f);
  if (thread == 0 || &r == &mine) {
    return;
  }
  siginfo_t info{};
  info.si_signo = slice_signal;
  info.si_code = SI_QUEUE;
  info.si_value.sival_ptr = &cancellation;
  raw_call(SYS_rt_tgsigqueueinfo, raw_call(SYS_getpid), thread, slice_signal,
           reinterpret_cast<long>(&info));
}

bool is_cancellation(const siginfo_t& info) noexcept {
  return info.si_code == SI_QUEUE && info.si_value.sival_ptr == &cancellation;
}

/// glibc's own signal does the rest, as soon as this handler has returned. glibc sends it to a
/// kernel thread; there it would meet whichever fiber runs.
void be_cancelled(void* context) noexcept {
  if (!mine.ours || !mine.cancelled.load(std::memory_order_relaxed)) {
    return;  // another one runs here now
  }
  const std::uint64_t bit = bit_of(glibc_cancels);
  raw_call(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&bit), 0, sizeof bit);
  raw_call(SYS_tgkill, raw_call(SYS_getpid), raw_call(SYS_gettid), glibc_cancels);
  // Who was cancelled here before has left the handler by unwinding, with the signal blocked.
  auto* const later =
      reinterpret_cast<std::uint64_t*>(&static_cast<ucontext_t*>(context)->uc_sigmask);
  *later &= ~bit;
}

void come_back_now() noexcept {
  SINEW_EXPECT(mine.away);
  const int error = errno;
  mine.away = false;
  fiber::return_to_worker();
  SINEW_ENSURE(fiber::self() == mine.fiber.load());
  errno = error;
}

}  // namespace sinew::threads
