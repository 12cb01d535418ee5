// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/last_words.hpp"

#include <execinfo.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "sinew/base/raw_write.hpp"

namespace sinew::base {

last_words& last_words::add(std::string_view text) noexcept {
  const std::size_t count = std::min(text.size(), room_.size() - used_);
  text.copy(room_.data() + used_, count);
  used_ += count;
  return *this;
}

last_words& last_words::add_number(std::uint64_t value, unsigned radix) noexcept {
  std::array<char, 64> digits{};
  std::size_t at = digits.size();
  do {
    digits[--at] = "0123456789abcdef"[value % radix];
    value /= radix;
  } while (value != 0);
  return add({digits.data() + at, digits.size() - at});
}

void last_words::write() const noexcept { raw_write(STDERR_FILENO, text()); }

void write_backtrace() noexcept {
  std::array<void*, 64> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
}

const void* stack_pointer(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.sp);
#else
  (void)machine;
  return nullptr;
#endif
}

namespace {

/// Asks the kernel: it looks at the set of signals first, and only then at what to do with it.
bool readable(std::uintptr_t address) noexcept {
  constexpr int no_such_change = -1;
  constexpr std::uintptr_t set_bytes = 8;
  const int error = errno;
  const bool yes = ::syscall(SYS_rt_sigprocmask, no_such_change, address & ~(set_bytes - 1),
                             nullptr, set_bytes) == 0 ||
                   errno != EFAULT;
  errno = error;
  return yes;
}

}  // namespace

bool ran_over_stack(const void* address, const void* context) noexcept {
  // A call, a push or a first local variable faults just below the stack pointer; so does a
  // function that probes its frame page by page.
  constexpr std::uintptr_t near = 4096;
  // A frame that was entered in one step may be touched anywhere in it.
  constexpr std::uintptr_t largest_frame = std::uintptr_t{1} << 30U;
  const auto sp = reinterpret_cast<std::uintptr_t>(stack_pointer(context));
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (sp == 0) {
    return false;
  }
  return (at <= sp && sp - at <= near) || (at > sp && at - sp < largest_frame && !readable(sp));
}

namespace {

// Written before the handler is installed or replaced by another function, read in the handler.
std::atomic<fault_handler> looks{nullptr};
std::atomic<fault_handler> reports{nullptr};
struct sigaction handled_before{};  ///< by the program

bool is_handler(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (fault_handler look = looks.load(std::memory_order_acquire)) {
    look(signal, info, context);
  }
  if (is_handler(handled_before)) {
    if ((handled_before.sa_flags & SA_SIGINFO) != 0) {
      handled_before.sa_sigaction(signal, info, context);
    } else {
      handled_before.sa_handler(signal);
    }
    return;
  }
  if (fault_handler report = reports.load(std::memory_order_acquire)) {
    report(signal, info, context);
    return;
  }
  // The instruction runs again, and this time takes the default action.
  ::signal(signal, SIG_DFL);
}

bool handler_is_ours(struct sigaction& now) noexcept {
  return ::sigaction(SIGSEGV, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == on_fault;
}

}  // namespace

void look_at_faults(fault_handler look) noexcept {
  looks.store(look, std::memory_order_release);
  struct sigaction now{};
  if (handler_is_ours(now)) {
    return;
  }
  if (now.sa_sigaction == reports.load(std::memory_order_relaxed) && is_handler(now)) {
    now = {};  // not the program's: it comes after the look by itself
  }
  handled_before = now;
  struct sigaction mine{};
  mine.sa_sigaction = on_fault;
  mine.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK);
  ::sigemptyset(&mine.sa_mask);
  ::sigaction(SIGSEGV, &mine, nullptr);
}

void look_at_faults_no_more() noexcept {
  looks.store(nullptr, std::memory_order_release);
  struct sigaction now{};
  if (handler_is_ours(now) && reports.load(std::memory_order_relaxed) == nullptr) {
    ::sigaction(SIGSEGV, &handled_before, nullptr);
  }
}

bool report_faults(fault_handler report) noexcept {
  reports.store(report, std::memory_order_release);
  struct sigaction now{};
  return handler_is_ours(now);
}

void prepare_last_words() noexcept {
  void* frame = nullptr;
  (void)::backtrace(&frame, 1);
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  constexpr std::size_t bytes = std::size_t{64} * 1024;
  void* room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    stack_t mine{};
    mine.ss_sp = room;
    mine.ss_size = bytes;
    ::sigaltstack(&mine, nullptr);
  }
}

}  // namespace sinew::base
