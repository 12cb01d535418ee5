// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/signals.hpp"

#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "abi/threads/cputime.hpp"
#include "abi/threads/monitor.hpp"
#include "abi/threads/parking_lot.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/refuse.hpp"
#include "abi/threads/signal_set.hpp"
#include "abi/threads/slices.hpp"
#include "abi/threads/start.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/fiber/view.hpp"

namespace sinew::threads {

constinit std::atomic<std::uint64_t> undelivered_signals{0};

namespace {

/// What the program has asked for by sigaction(); the kernel has our own handler. Fields are read
/// in handlers while another thread may be writing: each is whole, and a program that changes a
/// handler while its signal arrives cannot know which one runs.
struct action {
  std::atomic<std::uintptr_t> handler{0};  ///< or SIG_DFL, SIG_IGN
  std::atomic<int> flags{0};
  std::atomic<std::uint64_t> mask{0};

  [[nodiscard]] bool is_default() const noexcept { return handler.load() == 0; }
  [[nodiscard]] bool is_ignored() const noexcept { return handler.load() == 1; }
};
constinit std::array<action, _NSIG> actions{};
/// The last siginfo of each signal that waits; a second one that waits is lost, as in the kernel.
constinit std::array<siginfo_t, _NSIG> details{};
/// Signals of the process for which nobody has been looked for yet.
constinit std::atomic<std::uint64_t> unrouted{0};
/// Signals that some thread has blocked: their default action must ask us first.
constinit std::atomic<std::uint64_t> ever_blocked{0};
/// SIGQUIT shows the fibers: the program has never said what else it should do.
constinit std::atomic<bool> quit_shows{false};
/// The main thread's mask when the workers were started, which they all have in the kernel; and
/// what no thread has let in since. What has been let in is ours to deliver from then on. Relaxed:
/// one kernel thread that lets a signal in is enough, others follow when a handler returns on them.
std::uint64_t kept_at_first = 0;
constinit std::atomic<std::uint64_t> kernel_keeps{0};

struct {
  fiber::spin_lock lock;
  record* first = nullptr;
} living;

/// Marks signals that we send to a worker, for the thread that runs there.
char doorbell;

struct text_range {
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
};
/// Of our two libraries, and of the clock that they read.
std::array<text_range, 3> own_text{};

int find_own_text(dl_phdr_info* library, std::size_t, void* found) noexcept {
  const std::uintptr_t inside[] = {reinterpret_cast<std::uintptr_t>(&fiber::self),
                                   reinterpret_cast<std::uintptr_t>(&find_own_text)};
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    const text_range here{library->dlpi_addr + part.p_vaddr,
                          library->dlpi_addr + part.p_vaddr + part.p_memsz};
    for (std::size_t k = 0; k < 2; ++k) {
      if (part.p_type == PT_LOAD && inside[k] >= here.from && inside[k] < here.to) {
        (*static_cast<decltype(own_text)*>(found))[k] = here;
      }
    }
  }
  return 0;
}

/// What the kernel does with a signal that has no handler.
void default_action(int number) noexcept {
  switch (number) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
      return;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      raw_call(SYS_tgkill, raw_call(SYS_getpid), raw_call(SYS_gettid), SIGSTOP);
      return;
    default:
      break;
  }
  struct sigaction how{};
  how.sa_handler = SIG_DFL;
  real().sigaction(number, &how, nullptr);
  const std::uint64_t all = bit_of(number);
  raw_call(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&all), 0, sizeof all);
  raw_call(SYS_tgkill, raw_call(SYS_getpid), raw_call(SYS_gettid), number);
}

void call(const action& a, int number, siginfo_t* info, void* context) {
  const std::uintptr_t handler = a.handler.load();
  if ((a.flags.load() & SA_SIGINFO) != 0) {
    reinterpret_cast<void (*)(int, siginfo_t*, void*)>(handler)(number, info, context);
  } else {
    reinterpret_cast<void (*)(int)>(handler)(number);
  }
}

/// With the signals blocked in the caller that its handler wants blocked.
handled run_handler(int number, void* context) {
  SINEW_EXPECT(is_ours(number));  // of others the table says nothing
  action& a = actions[static_cast<std::size_t>(number)];
  if (a.is_ignored()) {
    return handled::nothing;
  }
  if (a.is_default()) {
    if (number == SIGQUIT && quit_shows.load()) {
      fiber::on_quit(number, &details[SIGQUIT], context);
    } else {
      default_action(number);
    }
    return handled::nothing;
  }
  const int flags = a.flags.load();
  siginfo_t info = details[static_cast<std::size_t>(number)];
  ucontext_t nothing_interrupted{};
  struct blocking {  // also when the handler unwinds the stack
    std::uint64_t before = mine.blocked.load();
    int outer = mine.handlers;
    explicit blocking(std::uint64_t more) {
      SINEW_EXPECT(outer >= 0);
      if (outer == 0) {
        mine.blocked_outside = before;
      }
      mine.handlers = outer + 1;
      mine.blocked.store(before | more);
    }
    ~blocking() {
      mine.blocked.store(before);
      mine.handlers = outer;  // not one less: a jump within this one counts as out of all
    }
  } during(a.mask.load() | ((flags & SA_NODEFER) != 0 ? 0 : bit_of(number)));
  if ((flags & SA_RESETHAND) != 0) {
    struct sigaction how{};
    how.sa_handler = SIG_DFL;
    action before{a.handler.load(), flags, a.mask.load()};
    ::sigaction(number, &how, nullptr);
    call(before, number, &info, context != nullptr ? context : &nothing_interrupted);
  } else {
    call(a, number, &info, context != nullptr ? context : &nothing_interrupted);
  }
  return (flags & SA_RESTART) != 0 ? handled::restart : handled::cut_short;
}

/// Takes one signal out of `from`; false if somebody else was faster.
bool take(std::atomic<std::uint64_t>& from, std::uint64_t bit) noexcept {
  return (from.fetch_and(~bit, std::memory_order_acq_rel) & bit) != 0;
}

handled take_signals_in(void* context) {
  handled all = handled::nothing;
  if (!mine.ours) {
    return all;
  }
  for (;;) {
    const std::uint64_t ready = (mine.pending.load() | undelivered_signals.load()) &
                                ~mine.blocked.load(std::memory_order_relaxed);
    if (ready == 0) {
      return all;
    }
    const int number = std::countr_zero(ready) + 1;
    if (take(mine.pending, bit_of(number)) || take(undelivered_signals, bit_of(number))) {
      const int error = errno;
      all = std::max(all, run_handler(number, context));
      mine.worst_handled = std::max(mine.worst_handled, static_cast<int>(all));
      errno = error;
    }
  }
}

/// The worker that runs it right now interrupts it; who waits is woken; else it looks when it runs.
void wake_up(record& r, int number) noexcept {
  SINEW_EXPECT(is_ours(number));
  interrupt(r);
  fiber::fiber* const f = r.fiber.load();
  const int thread = f == nullptr ? 0 : fiber::thread_running(*f);
  const action& a = actions[static_cast<std::size_t>(number)];
  if (thread == 0 || thread == raw_call(SYS_gettid) || a.is_default() || a.is_ignored()) {
    return;
  }
  siginfo_t info{};
  info.si_signo = number;
  info.si_code = SI_QUEUE;
  info.si_value.sival_ptr = &doorbell;
  raw_call(SYS_rt_tgsigqueueinfo, raw_call(SYS_getpid), thread, number,
           reinterpret_cast<long>(&info));
}

/// The thread that the worker runs right now. Null between two: then `mine` is the worker's, and on
/// the first worker that is the main thread's.
record* running_thread() noexcept {
  return mine.ours && (mine.away || fiber::self() != nullptr) ? &mine : nullptr;
}

bool takes(const record& r, std::uint64_t bit) noexcept {
  return r.life.load(std::memory_order_acquire) < ended &&
         ((r.blocked.load() & bit) == 0 || (r.awaited_signals.load() & bit) != 0);
}

/// As the kernel does it: the main thread if it does not block it, else anybody; null: all block
/// it. With the lock.
record* receiver_of(int number, record* me) noexcept {
  const std::uint64_t bit = bit_of(number);
  const bool of_who_runs = number == SIGPROF || number == SIGVTALRM;
  const bool i_could = me != nullptr && takes(*me, bit);
  record* to = of_who_runs && i_could ? me : nullptr;
  for (record* each = living.first; each != nullptr && to == nullptr; each = each->next_living) {
    if (takes(*each, bit) && each->main) {
      to = each;
    }
  }
  if (to == nullptr && i_could) {
    to = me;
  }
  for (record* each = living.first; each != nullptr && to == nullptr; each = each->next_living) {
    if (takes(*each, bit)) {
      to = each;
    }
  }
  return to;
}

void send_to_process(int number) noexcept {
  const std::uint64_t bit = bit_of(number);
  const std::lock_guard hold(living.lock);
  record* const me = running_thread();
  record* to = receiver_of(number, me);
  if (to == nullptr) {
    // Who unblocks it, or begins to await it, looks here after that (all sequentially consistent):
    // it sees the signal, or the second look sees it.
    undelivered_signals.fetch_or(bit, std::memory_order_seq_cst);
    to = receiver_of(number, me);
    if (to == nullptr || !take(undelivered_signals, bit)) {
      return;
    }
  }
  to->pending.fetch_or(bit, std::memory_order_seq_cst);
  if (to != me) {
    wake_up(*to, number);
  }
}

/// Asks again soon: the interrupted code is ours, and will have come out of it.
void ask_again(int number) noexcept {
  struct kernel_sigevent {
    void* value;
    int signal;
    int notify;
    int thread;
    int pad[11];
  } how{&doorbell, number, SIGEV_THREAD_ID, static_cast<int>(raw_call(SYS_gettid)), {}};
  int timer = 0;
  if (raw_call(SYS_timer_create, CLOCK_MONOTONIC, reinterpret_cast<long>(&how),
               reinterpret_cast<long>(&timer)) == 0) {
    const itimerspec soon{{0, 0}, {0, 100'000}};
    raw_call(SYS_timer_settime, timer, 0, reinterpret_cast<long>(&soon), 0);
  }
}

/// The interrupted thread may go on on another kernel thread than the one that it was interrupted
/// on. When the handler returns, the kernel makes the signal stack and the mask what they were
/// then. The stack must remain what it is here, and the mask must not keep what has been let in.
void suit_kernel_thread(void* context) noexcept {
  auto& at = *static_cast<ucontext_t*>(context);
  raw_call(SYS_sigaltstack, 0, reinterpret_cast<long>(&at.uc_stack));
  const std::uint64_t let_in = kept_at_first & ~kernel_keeps.load(std::memory_order_relaxed);
  at.uc_sigmask = set_of(bits_of(at.uc_sigmask) & ~let_in);
}

/// A signal has come, for the caller alone or for the process.
void note(int number, const siginfo_t& info, const record* me) noexcept {
  SINEW_EXPECT(is_ours(number));
  details[static_cast<std::size_t>(number)] = info;
  (info.si_code == SI_TKILL && me != nullptr ? mine.pending : unrouted).fetch_or(bit_of(number));
}

/// The kernel's handler of all signals for which the program has one. In it all are blocked.
void on_signal(int number, siginfo_t* info, void* context) {
  const int error = errno;
  if (ends_slice(*info)) {
    if (running_thread() != nullptr && fibers_run()) {
      count_slice(info->si_overrun);
      if (end_counted_slice(context) && mine.cancel_type == PTHREAD_CANCEL_ASYNCHRONOUS) {
        ::pthread_testcancel();
      }
      (void)take_signals();
      suit_kernel_thread(context);
    }
    errno = error;
    return;
  }
  if (is_from_monitor(*info)) {
    leave_if_stuck(*info, context);
    suit_kernel_thread(context);
    errno = error;
    return;
  }
  if (is_cancellation(*info)) {
    be_cancelled(context);
    errno = error;
    return;
  }
  if (!fibers_run()) {  // between a fork and return_signals()
    call(actions[static_cast<std::size_t>(number)], number, info, context);
    errno = error;
    return;
  }
  const record* const me = running_thread();
  if (info->si_value.sival_ptr != &doorbell ||
      (info->si_code != SI_QUEUE && info->si_code != SI_TIMER)) {
    note(number, *info, me);
  } else if (info->si_code == SI_TIMER) {
    raw_call(SYS_timer_delete, info->si_timerid);
  }
  if ((unrouted.load() & bit_of(number)) != 0) {
    if (me != nullptr && in_own_text(context)) {
      ask_again(number);  // it may hold the lock that is needed
    } else if (take(unrouted, bit_of(number))) {
      send_to_process(number);
    }
  }
  if (me != nullptr && (mine.pending.load() & ~mine.blocked.load()) != 0) {
    if (in_own_text(context)) {
      ask_again(number);
    } else {
      const auto* const mask = &static_cast<const ucontext_t*>(context)->uc_sigmask;
      raw_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(mask), 0,
               sizeof(std::uint64_t));
      (void)take_signals_in(context);
      suit_kernel_thread(context);
    }
  }
  errno = error;
}

/// Tells the kernel what the table says.
int install(int number) noexcept {
  SINEW_EXPECT(is_ours(number));
  const action& a = actions[static_cast<std::size_t>(number)];
  struct sigaction how{};
  const bool ours_too = number == slice_signal;
  const bool plain = a.is_default() && (ever_blocked.load() & bit_of(number)) == 0;
  if (!ours_too && (a.is_ignored() || plain)) {
    how.sa_handler = a.is_ignored() ? SIG_IGN : SIG_DFL;
    how.sa_flags = a.flags.load() & ~static_cast<int>(SA_ONSTACK | SA_SIGINFO);
  } else {
    how.sa_sigaction = on_signal;
    // On the interrupted stack: two fibers of a worker cannot be on its signal stack at a time.
    how.sa_flags = SA_SIGINFO | (a.flags.load() & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT)) |
                   (ours_too || a.is_default() ? SA_RESTART : 0);
    ::sigfillset(&how.sa_mask);
    how.sa_mask.__val[0] |= bit_of(glibc_cancels);  // it unwinds the stack: not from in there
  }
  return real().sigaction(number, &how, nullptr);
}

/// What a signal does by default it must not do while some thread blocks it: it comes to us first.
void hold_defaults(std::uint64_t blocked) noexcept {
  const std::uint64_t fresh = blocked & ~ever_blocked.fetch_or(blocked);
  for (int number = 1; number < _NSIG; ++number) {
    if ((fresh & bit_of(number)) != 0 && is_ours(number) &&
        actions[static_cast<std::size_t>(number)].is_default()) {
      (void)install(number);
    }
  }
}

/// From now on the kernel delivers these signals here. Those that have waited there are taken out
/// first: its handler would come in the middle of us, and could only ask again later.
void let_in(std::uint64_t set) noexcept {
  set &= kept_at_first;
  if (set == 0) {
    return;
  }
  // Those that are not ours to deliver the kernel delivers as soon as they are let in.
  const std::uint64_t kept =
      set & ours_to_deliver & kernel_keeps.fetch_and(~set, std::memory_order_relaxed);
  const timespec at_once{};
  siginfo_t info{};
  const auto next = [&] {
    return static_cast<int>(raw_call(SYS_rt_sigtimedwait, reinterpret_cast<long>(&kept),
                                     reinterpret_cast<long>(&info),
                                     reinterpret_cast<long>(&at_once), sizeof kept));
  };
  for (int number = next(); number > 0; number = next()) {
    note(number, info, &mine);
    if (take(unrouted, bit_of(number))) {
      send_to_process(number);
    }
  }
  raw_call(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&set), 0, sizeof set);
}

bool is_virtual() noexcept { return mine.ours && fibers_run(); }

int kill_thread(record& r, int number) {
  const std::uint32_t life = r.life.load(std::memory_order_acquire);
  if (life >= ended || number == 0) {
    return life == gone ? ESRCH : 0;
  }
  const std::uint64_t bit = bit_of(number);
  const action& a = actions[static_cast<std::size_t>(number)];
  const bool waits = !takes(r, bit) || (r.awaited_signals.load() & bit) != 0;
  if (!waits && (a.is_default() || a.is_ignored())) {
    if (a.is_default()) {
      default_action(number);
    }
    return 0;
  }
  siginfo_t& info = details[static_cast<std::size_t>(number)];
  info = {};
  info.si_signo = number;
  info.si_code = SI_TKILL;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  r.pending.fetch_or(bit, std::memory_order_seq_cst);
  if (&r == &mine) {
    (void)take_signals();
  } else {
    wake_up(r, number);
  }
  return 0;
}

constinit std::atomic<int> next_id{0};

}  // namespace

record* thread_with(int id) noexcept {
  const std::lock_guard hold(living.lock);
  record* each = living.first;
  while (each != nullptr && each->id != id) {
    each = each->next_living;
  }
  return each;
}

bool in_own_text(const void* context) noexcept {
  const auto at = static_cast<std::uintptr_t>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  return std::any_of(own_text.begin(), own_text.end(),
                     [at](const text_range& each) { return at >= each.from && at < each.to; });
}

siginfo_t details_of(int number) noexcept { return details[static_cast<std::size_t>(number)]; }

std::uint64_t kept_by_kernel() noexcept { return kernel_keeps.load(std::memory_order_relaxed); }

std::uint64_t change_mask(std::uint64_t to) noexcept {
  to &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
  const std::uint64_t before = mine.blocked.exchange(to);
  hold_defaults(to);
  let_in(before & ~to);
  return before;
}

handled take_signals_now() { return take_signals_in(nullptr); }

void adopt_signals() noexcept {
  SINEW_EXPECT(mine.main && mine.pending.load() == 0);
  ::dl_iterate_phdr(find_own_text, &own_text);
  const std::uintptr_t clock = ::getauxval(AT_SYSINFO_EHDR);
  own_text[2] = {clock, clock + 8192};
  std::uint64_t blocked = 0;
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, 0, reinterpret_cast<long>(&blocked), sizeof blocked);
  mine.blocked.store(blocked);
  kept_at_first = blocked & ~bit_of(slice_signal);  // start_slices() opens that
  kernel_keeps.store(kept_at_first);
  mine.id = ::getpid();
  enlist(mine);
  for (int number = 1; number < _NSIG; ++number) {
    struct sigaction now{};
    if (!is_ours(number) || real().sigaction(number, nullptr, &now) != 0) {
      continue;
    }
    action& a = actions[static_cast<std::size_t>(number)];
    if (number == SIGQUIT && now.sa_sigaction == fiber::on_quit) {
      quit_shows.store(true);
      continue;  // as if at its default
    }
    a.handler.store(reinterpret_cast<std::uintptr_t>(now.sa_handler));
    a.flags.store(now.sa_flags);
    a.mask.store(bits_of(now.sa_mask));
    if (number == slice_signal || (!a.is_default() && !a.is_ignored())) {
      (void)install(number);
    }
  }
  hold_defaults(blocked);
}

void return_signals() noexcept {
  for (int number = 1; number < _NSIG; ++number) {
    const action& a = actions[static_cast<std::size_t>(number)];
    if (!is_ours(number) ||
        (a.is_default() && number != slice_signal && (ever_blocked.load() & bit_of(number)) == 0)) {
      continue;
    }
    struct sigaction how{};
    how.sa_handler = reinterpret_cast<void (*)(int)>(a.handler.load());
    how.sa_flags = a.flags.load();
    how.sa_mask = set_of(a.mask.load());
    real().sigaction(number, &how, nullptr);
  }
  mine.pending.store(0);
  undelivered_signals.store(0);
  const std::uint64_t mask = mine.blocked.load();
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, sizeof mask);
}

void inherit_mask(record& r, const pthread_attr_t* attributes) noexcept {
  sigset_t asked{};
  if (attributes != nullptr && ::pthread_attr_getsigmask_np(attributes, &asked) == 0) {
    r.blocked.store(bits_of(asked), std::memory_order_relaxed);
  } else {
    r.blocked.store(mine.blocked.load(), std::memory_order_relaxed);
  }
}

void enlist(record& r) noexcept {
  SINEW_EXPECT(r.ours);
  if (!r.main) {
    r.id = first_fiber_id + (next_id.fetch_add(1, std::memory_order_relaxed) & 0x3FFFFFFF);
  }
  const std::lock_guard hold(living.lock);
  r.previous_living = nullptr;
  r.next_living = living.first;
  if (r.next_living != nullptr) {
    r.next_living->previous_living = &r;
  }
  living.first = &r;
}

void strike_off(record& r) noexcept {
  const std::lock_guard hold(living.lock);
  SINEW_EXPECT((r.previous_living != nullptr ? r.previous_living->next_living : living.first) ==
               &r);
  (r.previous_living != nullptr ? r.previous_living->next_living : living.first) = r.next_living;
  if (r.next_living != nullptr) {
    r.next_living->previous_living = r.previous_living;
  }
}

}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int sigaction(int number, const struct sigaction* to, struct sigaction* before) noexcept {
  if (!fibers_run() || !is_ours(number)) {
    return real().sigaction(number, to, before);
  }
  action& a = actions[static_cast<std::size_t>(number)];
  if (before != nullptr) {
    *before = {};
    before->sa_handler = reinterpret_cast<void (*)(int)>(a.handler.load());
    before->sa_flags = a.flags.load();
    before->sa_mask = set_of(a.mask.load());
  }
  if (to == nullptr) {
    return 0;
  }
  if (number == SIGQUIT) {
    quit_shows.store(false);  // the program has plans for it
  }
  a.flags.store(to->sa_flags);
  a.mask.store(bits_of(to->sa_mask));
  a.handler.store(reinterpret_cast<std::uintptr_t>(to->sa_handler));
  return install(number);
}

sighandler_t signal(int number, sighandler_t handler) noexcept {
  struct sigaction how{};
  struct sigaction before{};
  how.sa_handler = handler;
  how.sa_flags = SA_RESTART;
  return handler == SIG_ERR || ::sigaction(number, &how, &before) != 0 ? SIG_ERR
                                                                       : before.sa_handler;
}

int siginterrupt(int number, int flag) noexcept {
  struct sigaction how{};
  if (::sigaction(number, nullptr, &how) != 0) {
    return -1;
  }
  how.sa_flags = flag != 0 ? how.sa_flags & ~SA_RESTART : how.sa_flags | SA_RESTART;
  return ::sigaction(number, &how, nullptr);
}

int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  if (!is_virtual()) {
    return real().set_sigmask(how, set, before);
  }
  const std::uint64_t now = mine.blocked.load();
  const std::uint64_t change = set == nullptr ? 0 : bits_of(*set);
  if (set != nullptr && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK) {
    return EINVAL;
  }
  if (before != nullptr) {
    *before = set_of(now);
  }
  if (set != nullptr) {
    (void)change_mask(how == SIG_BLOCK     ? now | change
                      : how == SIG_UNBLOCK ? now & ~change
                                           : change);
    (void)take_signals();
  }
  return 0;
}

int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const int code = pthread_sigmask(how, set, before);
  errno = code == 0 ? errno : code;
  return code == 0 ? 0 : -1;
}

int sigpending(sigset_t* set) noexcept {
  const int code = real().sigpending(set);
  if (code == 0 && is_virtual()) {
    const std::uint64_t waiting = mine.pending.load() | undelivered_signals.load();
    *set = set_of((bits_of(*set) | waiting) & mine.blocked.load());
  }
  return code;
}

int pthread_kill(pthread_t thread, int number) noexcept {
  record* const r = record_of(thread);
  if (!r->ours || !fibers_run()) {
    return real().kill(thread, number);
  }
  if (number < 0 || number >= _NSIG) {
    return EINVAL;
  }
  return number == 0 || is_ours(number) || r->life.load(std::memory_order_acquire) >= ended
             ? kill_thread(*r, number)
             : real().kill(thread, number);
}

int raise(int number) noexcept {
  const int code = ::pthread_kill(::pthread_self(), number);
  errno = code == 0 ? errno : code;
  return code == 0 ? 0 : -1;
}

pid_t gettid() noexcept {
  return is_virtual() ? mine.id : static_cast<pid_t>(raw_call(SYS_gettid));
}

int tgkill(pid_t process, pid_t thread, int number) {
  long code = 0;
  if (fibers_run() && process == ::getpid() && (thread == process || thread >= first_fiber_id)) {
    record* const r = thread_with(thread);
    code = r == nullptr ? -ESRCH : -::pthread_kill(thread_of(*r), number);
  } else {
    code = raw_call(SYS_tgkill, process, thread, number);
  }
  errno = code == 0 ? errno : static_cast<int>(-code);
  return code == 0 ? 0 : -1;
}

}  // extern "C"
