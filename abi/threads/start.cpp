// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/start.hpp"

#include <pthread.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "abi/threads/cputime.hpp"
#include "abi/threads/files.hpp"
#include "abi/threads/monitor.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/record.hpp"
#include "abi/threads/refuse.hpp"
#include "abi/threads/settings.hpp"
#include "abi/threads/signals.hpp"
#include "abi/threads/slices.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/fiber/thread_storage.hpp"

namespace sinew::threads {
namespace {

enum class stage : int { threads, starting, fibers, forked };

/// Leaves `threads` once, by whoever creates the first thread; until then there is only one thread
/// to ask, so relaxed would do. `forked` is set in a process of one thread.
constinit std::atomic<stage> now{stage::threads};
std::size_t glibc_default = 0;

void in_child() noexcept {
  if (now.load() == stage::fibers) {
    now.store(stage::forked);
    mine.away = false;
    fiber::scheduler::abandon();
    return_signals();
  }
}

void start_fibers() noexcept {
  now.store(stage::starting);
  bool ours = false;
  try {
    (void)settings::load_environment();
    if (fiber::scheduler::of_process() == nullptr) {
      ours = true;
      new fiber::scheduler;  // for ever: the process may end while fibers run, as with threads
    }
    fiber::advise_on_thread_stacks(
        "give its threads more, by SINEW_THREADS_STACK or pthread_attr_setstacksize()");
  } catch (const error& problem) {
    refuse_program(problem.what());
  }
  // Guards of static objects, for instance, take a second caller for the first one otherwise.
  __libc_single_threaded = 0;
  mine.fiber.store(fiber::self());
  mine.ours = mine.main = true;
  (void)real().getname(::pthread_self(), mine.name, sizeof mine.name);
  ::pthread_atfork(share_descriptors, nullptr, in_child);
  now.store(stage::fibers);
  begin_time();
  adopt_signals();
  start_slices();
  if (ours && slices()) {  // another scheduler may end before the process does
    start_monitor();
  }
  SINEW_LOG(info, "threads are fibers, workers: " +
                      std::to_string(fiber::scheduler::of_process()->workers()));
}

/// Before the program's own constructors and main().
[[gnu::constructor]] void look_around() {
  if (const char* why = why_not()) {
    refuse_program(why);
  }
  (void)real();
  pthread_attr_t plain;
  ::pthread_attr_init(&plain);
  ::pthread_attr_getstacksize(&plain, &glibc_default);
  ::pthread_attr_destroy(&plain);
}

void say(std::string_view text) noexcept {
  base::raw_write(2, as_clause(text));
  base::raw_write(2, text.ends_with(':') ? "\n" : ".\n");
}

}  // namespace

bool threads_are_fibers() noexcept {
  if (now.load() == stage::threads) [[unlikely]] {
    start_fibers();
  }
  return now.load() == stage::fibers;
}

bool fibers_run() noexcept { return now.load(std::memory_order_relaxed) == stage::fibers; }

bool in_forked_child() noexcept { return now.load(std::memory_order_relaxed) == stage::forked; }

std::size_t default_stack_bytes() noexcept {
  const std::int64_t asked = stack_bytes();
  constexpr std::int64_t least = 16384;
  return asked > 0 ? static_cast<std::size_t>(std::max(asked, least)) : glibc_default;
}

std::size_t glibc_stack_bytes() noexcept { return glibc_default; }

int refused(const char* thing, int code) noexcept {
  static std::array<std::atomic<const char*>, 16> told{};
  for (std::atomic<const char*>& each : told) {
    const char* known = nullptr;
    if (each.compare_exchange_strong(known, thing)) {
      say("sinew: --threads-as-fibers: the program asks for what fibers cannot have:");
      say(thing);
      break;
    }
    if (known == thing) {
      break;
    }
  }
  return code;
}

void refuse_program(const char* why) noexcept {
  say("sinew: --threads-as-fibers is not possible here:");
  say(why);
  say("Without this option its threads are the system's.");
  ::_exit(126);
}

}  // namespace sinew::threads
