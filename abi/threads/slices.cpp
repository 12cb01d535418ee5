// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/slices.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "abi/threads/monitor.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/record.hpp"
#include "abi/threads/settings.hpp"
#include "abi/threads/signal_set.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::threads {
namespace {

/// Its address tells our timers' signals from the program's own.
char mark;

constexpr int most_workers = 4096;
constinit std::array<std::atomic<bool>, most_workers> started{};

/// Written in the worker's handler, read by the monitor, for which it is enough to see that they
/// change: relaxed.
struct slice_counters {
  std::atomic<std::uint32_t> ended{0};
  std::atomic<std::uint32_t> wasted{0};
};
constinit std::array<slice_counters, most_workers> counters{};

void add_one(std::atomic<std::uint32_t>& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

/// Libraries whose code may hold a lock that others of the same worker would wait for in the
/// kernel, for ever: the C library, its loader, the unwinder that calls back with the loader's
/// lock, and ours.
constexpr std::array<std::string_view, 7> not_in = {"linux-vdso",   "/libc.so",  "/ld-linux",
                                                    "/libgcc_s.so", "/libsinew", "/libmpi_abi",
                                                    "/libcaf_sinew"};

/// Is this code of the program, or of a library that waits only by calls that we see? Code that no
/// file holds, as compilers at run time make it, is not known: no.
bool may_switch_at([[maybe_unused]] void* address) noexcept {
#if __GLIBC_PREREQ(2, 35)
  // Which may be called in a handler, but is not in every C library that we run with.
  using find_object = int(void* address, dl_find_object* found);
  static auto* const find =
      reinterpret_cast<find_object*>(::dlsym(RTLD_DEFAULT, "_dl_find_object"));
  dl_find_object found{};
  if (find == nullptr || find(address, &found) != 0 || found.dlfo_link_map == nullptr) {
    return false;
  }
  const std::string_view name = found.dlfo_link_map->l_name;
  return std::none_of(not_in.begin(), not_in.end(), [name](std::string_view each) {
    return name.find(each) != std::string_view::npos;
  });
#else
  return false;
#endif
}

/// Room for what runs until the others do; not if the program is on a stack of its own making.
bool has_room(const char* sp) noexcept {
  constexpr std::ptrdiff_t least = std::ptrdiff_t{32} << 10;
  return mine.main || (sp < mine.stack_top && sp - (mine.stack_top - mine.stack_bytes) >= least);
}

}  // namespace

void start_slices() noexcept {
  const int worker = fiber::scheduler::this_worker();
  if (!slices() || worker < 0 || worker >= most_workers ||
      started[static_cast<std::size_t>(worker)].exchange(true, std::memory_order_relaxed)) {
    return;
  }
  start_carrier_slices();
}

void start_carrier_slices() noexcept {
  (void)may_switch_at(&mark);  // finds the function, outside handlers
  const std::uint64_t bit = bit_of(slice_signal);
  raw_call(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&bit), 0, sizeof bit);
  struct kernel_sigevent {
    void* value;
    int signal;
    int notify;
    int thread;
    int pad[11];
  } how{&mark, slice_signal, SIGEV_THREAD_ID, static_cast<int>(raw_call(SYS_gettid)), {}};
  int timer = 0;
  if (raw_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, reinterpret_cast<long>(&how),
               reinterpret_cast<long>(&timer)) == 0) {
    const itimerspec slices{{0, slice_ns}, {0, slice_ns}};
    raw_call(SYS_timer_settime, timer, 0, reinterpret_cast<long>(&slices), 0);
  }
}

bool ends_slice(const siginfo_t& info) noexcept {
  return info.si_code == SI_TIMER && info.si_value.sival_ptr == &mark;
}

bool end_slice(void* context) noexcept {
  const auto& at = *static_cast<const ucontext_t*>(context);
  auto* const code = reinterpret_cast<void*>(at.uc_mcontext.gregs[REG_RIP]);
  if (mine.files_held != 0 || !may_switch_at(code) ||
      !has_room(reinterpret_cast<const char*>(at.uc_mcontext.gregs[REG_RSP]))) {
    return false;
  }
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&at.uc_sigmask), 0,
           sizeof(std::uint64_t));
  if (mine.away) {
    come_back_now();
  } else {
    fiber::end_slice();
  }
  return true;
}

bool end_counted_slice(void* context) noexcept {
  const int worker = fiber::scheduler::this_worker();
  if (worker < 0 || worker >= most_workers) {
    return end_slice(context);
  }
  slice_counters& count = counters[static_cast<std::size_t>(worker)];
  add_one(count.ended);
  const bool others_run = end_slice(context);
  if (!others_run && makes_others_wait(context)) {
    add_one(count.wasted);
  }
  return others_run;
}

slice_counts slices_of(int worker) noexcept {
  if (worker < 0 || worker >= most_workers) {
    return {};
  }
  const slice_counters& count = counters[static_cast<std::size_t>(worker)];
  return {count.ended.load(std::memory_order_relaxed),
          count.wasted.load(std::memory_order_relaxed)};
}

}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

// Who holds the lock of a file that others of its worker print to must come to give it back: they
// wait in the kernel.
void flockfile(FILE* file) noexcept {
  static auto* const call = reinterpret_cast<void (*)(FILE*)>(::dlsym(RTLD_NEXT, "flockfile"));
  call(file);
  ++mine.files_held;
}

int ftrylockfile(FILE* file) noexcept {
  static auto* const call = reinterpret_cast<int (*)(FILE*)>(::dlsym(RTLD_NEXT, "ftrylockfile"));
  const int code = call(file);
  mine.files_held += code == 0 ? 1 : 0;
  return code;
}

void funlockfile(FILE* file) noexcept {
  static auto* const call = reinterpret_cast<void (*)(FILE*)>(::dlsym(RTLD_NEXT, "funlockfile"));
  call(file);
  --mine.files_held;
}

}  // extern "C"
