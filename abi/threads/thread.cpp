// SPDX-License-Identifier: BSD-3-Clause
// Threads that come and go.
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi/threads/block.hpp"
#include "abi/threads/keys.hpp"
#include "abi/threads/moment.hpp"
#include "abi/threads/monitor.hpp"
#include "abi/threads/mutex.hpp"
#include "abi/threads/mutex_between.hpp"
#include "abi/threads/parking_lot.hpp"
#include "abi/threads/patience.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/refuse.hpp"
#include "abi/threads/signals.hpp"
#include "abi/threads/slices.hpp"
#include "abi/threads/start.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"

// What pthread_cleanup_push() in C calls. Registered here, our frame is the last that pthread_exit
// and cancellation come to when they unwind a stack.
extern "C" void __pthread_register_cancel(__pthread_unwind_buf_t*);
extern "C" void __pthread_unregister_cancel(__pthread_unwind_buf_t*);
extern "C" int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                                 void (*init)(), void (*fini)(), void (*loader_fini)(),
                                 void* stack_end);
namespace sinew::threads {
namespace {

/// Threads of the program that have not ended, the main one aside. The last to end releases who
/// waits in pthread_exit() of the main thread.
constinit std::atomic<std::uint32_t> others{0};
/// In turn; the main thread has the first.
constinit std::atomic<unsigned> next_worker{1};

/// The program's function, and whatever may end it.
[[gnu::noinline]] void run_program() {
  __pthread_unwind_buf_t end;
  if (__sigsetjmp_cancel(end.__cancel_jmp_buf, 0) == 0) {
    __pthread_register_cancel(&end);
    (void)take_signals();  // sent before it ran
    mine.result = mine.start(mine.argument);
  } else if (!mine.left_by_exit) {
    mine.result = PTHREAD_CANCELED;
  }
  __pthread_unregister_cancel(&end);
}

void count_down() noexcept {
  const std::uint32_t before = others.fetch_sub(1, std::memory_order_acq_rel);
  SINEW_ASSERT(before != 0);
  if (before == 1) {
    release(&others, all_of_them);
  }
}

void end_with(record& r) noexcept {
  SINEW_EXPECT(&r == &mine);
  std::uint32_t now = running;
  if (r.life.compare_exchange_strong(now, ended, std::memory_order_seq_cst)) {
    release(&r.life, all_of_them);
    return;
  }
  SINEW_ASSERT(now == detached);
  r.life.store(gone, std::memory_order_release);
  if (!r.main) {
    leave_block(r);
  }
}

/// A fiber's first and last frame, on the thread's own block.
void live(void*) {
  mine.stack_top = static_cast<char*>(__builtin_frame_address(0));
  open_block();
  start_slices();
  run_program();
  close_block();
  mine.stays = true;  // for good
  come_back();
  if (in_forked_child()) {
    std::exit(0);  // the last thread of its process has ended
  }
  SINEW_ASSERT(fiber::self() == mine.fiber.load());
  leave_robust_mutexes();
  leave_mutexes_between();
  strike_off(mine);
  record& me = mine;  // who joins may give the block away at once: nothing of it is used from here
  count_down();
  end_with(me);
}

/// Of a thread that has ended: nobody asks for it again. ESRCH if somebody else was first.
int give_away(record& r) noexcept {
  std::uint32_t now = ended;
  if (!r.life.compare_exchange_strong(now, gone, std::memory_order_acq_rel)) {
    return ESRCH;
  }
  if (!r.main) {
    const staying here;
    put_block(r);
  }
  return 0;
}

/// Waits for the end of `r`; a cancellation point.
int await_end(record& r, moment until) {
  ::pthread_testcancel();
  for (;;) {
    const std::uint32_t life = r.life.load(std::memory_order_acquire);
    if (life == ended) {
      return 0;
    }
    if (life != running) {
      return life == detached ? EINVAL : ESRCH;
    }
    switch (wait_while(r.life, running, "pthread_join", until, true)) {
      case woken::timed_out:
        return ETIMEDOUT;
      case woken::interrupted:
        ::pthread_testcancel();
        (void)take_signals();
        break;
      default:
        break;
    }
  }
}

int join(record& r, void** result, moment until) {
  if (&r == &mine) {
    return EDEADLK;
  }
  switch (r.life.load(std::memory_order_acquire)) {
    case gone:
      return ESRCH;
    case detached:
      return EINVAL;
    default:
      break;
  }
  if (r.joined.exchange(true, std::memory_order_relaxed)) {
    return EINVAL;
  }
  struct sole_joiner {  // also when the caller is cancelled: then another one may join
    record* on;
    ~sole_joiner() {
      if (on != nullptr) {
        on->joined.store(false, std::memory_order_relaxed);
      }
    }
  } held{&r};
  if (const int code = await_end(r, until); code != 0) {
    return code;
  }
  held.on = nullptr;
  void* const value = r.result;
  if (const int code = give_away(r); code != 0) {
    return code;
  }
  if (result != nullptr) {
    *result = value;
  }
  return 0;
}

int create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
           void* argument) noexcept {
  const staying here;
  record* const r = get_block();
  if (r == nullptr) {
    return EAGAIN;
  }
  r->start = start;
  r->argument = argument;
  r->stack_bytes = default_stack_bytes();
  if (attributes != nullptr) {
    int state = PTHREAD_CREATE_JOINABLE;
    std::size_t bytes = 0;
    ::pthread_attr_getdetachstate(attributes, &state);
    ::pthread_attr_getstacksize(attributes, &bytes);
    r->life.store(state == PTHREAD_CREATE_DETACHED ? detached : running, std::memory_order_relaxed);
    if (bytes != glibc_stack_bytes()) {
      r->stack_bytes = bytes;  // the program has chosen it
    }
  }
  inherit_mask(*r, attributes);
  enlist(*r);
  *thread = thread_of(*r);
  others.fetch_add(1, std::memory_order_relaxed);
  const auto workers = static_cast<unsigned>(fiber::scheduler::of_process()->workers());
  fiber::spawn_options how;
  how.stack_bytes = r->stack_bytes;
  how.worker = static_cast<int>(next_worker.fetch_add(1, std::memory_order_relaxed) % workers);
  how.thread_base = reinterpret_cast<std::uintptr_t>(*thread);
  how.name = "pthread";
  if (fiber::spawn(live, nullptr, nullptr, how).retry()) {
    count_down();
    strike_off(*r);
    r->life.store(gone, std::memory_order_relaxed);
    put_block(*r);
    return EAGAIN;
  }
  return 0;
}

/// The main thread ends, the others go on; the process ends with the last of them.
[[noreturn]] void leave_main() {
  SINEW_EXPECT(mine.main);
  end_with(mine);
  while (const std::uint32_t left = others.load(std::memory_order_acquire)) {
    (void)wait_while(others, left, "pthread_exit");
  }
  std::exit(0);
}

int (*program_main)(int, char**, char**) = nullptr;

/// The program's main(). pthread_exit and cancellation unwind the main thread's stack up to here,
/// which is below the frame of the C library that would end the kernel thread, a worker.
int run_main(int count, char** arguments, char** environment) {
  __pthread_unwind_buf_t end;
  if (__sigsetjmp_cancel(end.__cancel_jmp_buf, 0) == 0) {
    __pthread_register_cancel(&end);
    const int code = program_main(count, arguments, environment);
    __pthread_unregister_cancel(&end);
    return code;
  }
  __pthread_unregister_cancel(&end);
  if (mine.ours && !in_forked_child()) {
    if (!mine.left_by_exit) {
      mine.result = PTHREAD_CANCELED;
    }
    destroy_key_values();
    leave_robust_mutexes();
    leave_mutexes_between();
    leave_main();
  }
  real().exit(mine.result);  // to the C library's frame
  std::abort();              // not reached
}

}  // namespace

bool alone() noexcept { return others.load(std::memory_order_relaxed) == 0; }

}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  if (const char* why = why_not_from(start)) {
    refuse_program(why);
  }
  return threads_are_fibers() ? create(thread, attributes, start, argument)
                              : real().create(thread, attributes, start, argument);
}

/// For our own libraries (core's helper thread), which find it by name.
[[gnu::visibility("default")]] int sinew_kernel_thread(pthread_t* thread,
                                                       const pthread_attr_t* attributes,
                                                       void* (*start)(void*),
                                                       void* argument) noexcept {
  return real().create(thread, attributes, start, argument);
}

int pthread_join(pthread_t thread, void** result) {
  record* const r = record_of(thread);
  return r->ours ? join(*r, result, never) : real().join(thread, result);
}

int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  record* const r = record_of(thread);
  if (!r->ours) {
    return real().tryjoin(thread, result);
  }
  if (r->life.load(std::memory_order_acquire) != ended) {
    let_others_run();  // the caller may be asking in a loop
    return EBUSY;
  }
  return join(*r, result, never);
}

int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* until) {
  record* const r = record_of(thread);
  if (!r->ours) {
    return real().clockjoin(thread, result, clock, until);
  }
  if (!is_clock(clock) || (until != nullptr && !is_time(*until))) {
    return EINVAL;
  }
  return join(*r, result, until == nullptr ? never : moment_of(*until, clock));
}

int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  return pthread_clockjoin_np(thread, result, CLOCK_REALTIME, until);
}

int pthread_detach(pthread_t thread) noexcept {
  record* const r = record_of(thread);
  if (!r->ours) {
    return real().detach(thread);
  }
  if (r->joined.load(std::memory_order_relaxed) &&
      r->life.load(std::memory_order_relaxed) == running) {
    return 0;  // somebody waits in pthread_join() and does the rest, as with glibc
  }
  std::uint32_t now = running;
  if (r->life.compare_exchange_strong(now, detached, std::memory_order_seq_cst)) {
    return 0;
  }
  return now == detached ? EINVAL : give_away(*r);
}

void pthread_exit(void* result) {
  mine.result = result;
  mine.left_by_exit = true;
  real().exit(result);
  std::abort();  // not reached
}

int pthread_cancel(pthread_t thread) {
  record* const r = record_of(thread);
  if (r->ours && r->life.load(std::memory_order_acquire) >= ended) {
    return r->life.load(std::memory_order_relaxed) == gone ? ESRCH : 0;
  }
  int code = real().cancel(thread);
  if (!r->ours || (code != 0 && code != ESRCH)) {
    return code;
  }
  interrupt(*r);
  cancel_in_kernel(*r);
  // It blocks in the C library, which knows no kernel thread with its number. Once it is told,
  // glibc says that it is cancelled already.
  while (code == ESRCH && r->life.load(std::memory_order_acquire) < ended) {
    (void)let_others_run();
    code = real().cancel(thread);
    cancel_in_kernel(*r);
  }
  return 0;
}

/// Asynchronous cancellation would hit whichever fiber runs on that worker; so it waits for the
/// next cancellation point, as deferred cancellation does, or for the end of a slice.
int pthread_setcanceltype(int type, int* before) {
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) {
    return EINVAL;
  }
  if (before != nullptr) {
    *before = mine.cancel_type;
  }
  mine.cancel_type = type;
  if (type == PTHREAD_CANCEL_ASYNCHRONOUS) {
    ::pthread_testcancel();
  }
  return 0;
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  record* const r = record_of(thread);
  if (!r->ours || r->main) {
    return real().getattr(thread, attributes);
  }
  while (r->fiber.load() == nullptr) {  // before it begins, nobody knows where
    let_others_run();
  }
  if (const int code = ::pthread_attr_init(attributes); code != 0) {
    return code;
  }
  ::pthread_attr_setdetachstate(attributes, r->life.load(std::memory_order_relaxed) == detached
                                                ? PTHREAD_CREATE_DETACHED
                                                : PTHREAD_CREATE_JOINABLE);
  // Whole pages: Java protects the lowest of them.
  const auto up = [](const char* at) {
    constexpr std::uintptr_t page = 4096;
    return (reinterpret_cast<std::uintptr_t>(at) + page - 1) & ~(page - 1);
  };
  const std::uintptr_t low = up(r->stack_top - r->stack_bytes);
  return ::pthread_attr_setstack(attributes, reinterpret_cast<void*>(low), up(r->stack_top) - low);
}

int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  record* const r = record_of(thread);
  if (!r->ours) {
    return real().setname(thread, name);
  }
  const std::size_t length = std::strlen(name);
  if (length >= sizeof r->name) {
    return ERANGE;
  }
  std::memcpy(r->name, name, length + 1);
  if (r->main) {
    return real().setname(thread, name);  // the process shows it
  }
  if (auto* const f = r->fiber.load()) {
    sinew::fiber::rename(*f, name);
  }
  return 0;
}

int pthread_getname_np(pthread_t thread, char* name, std::size_t bytes) noexcept {
  record* const r = record_of(thread);
  if (!r->ours) {
    return real().getname(thread, name, bytes);
  }
  if (r->name[0] == '\0') {
    return real().getname(::pthread_self(), name, bytes);
  }
  return std::snprintf(name, bytes, "%s", r->name) < static_cast<int>(bytes) ? 0 : ERANGE;
}

int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, void (*init)(),
                      void (*fini)(), void (*loader_fini)(), void* stack_end) {
  program_main = main;
  const auto start =
      reinterpret_cast<decltype(&__libc_start_main)>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(run_main, count, arguments, init, fini, loader_fini, stack_end);
}

}  // extern "C"
