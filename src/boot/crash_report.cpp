// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/crash_report.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "sinew/base/last_words.hpp"

namespace sinew::boot {
namespace {

// Written before the handlers are installed, only read inside them.
std::array<char, 320> prefix{};
/// The kernel's number of the thread that reports, or 0. Set once.
std::atomic<pid_t> reporting{0};

constexpr std::array signals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

std::string_view name_of(int signal) noexcept {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV: it touched memory that is not its own";
    case SIGBUS:
      return "SIGBUS: memory behind a mapping is not there";
    case SIGILL:
      return "SIGILL: an instruction this processor does not know";
    case SIGFPE:
      return "SIGFPE: an arithmetic error, such as an integer divided by 0";
    default:
      return "SIGABRT: it called abort()";
  }
}

/// What the thread was doing when it ran over its stack is in the backtrace; this is what helps.
constexpr std::string_view full_stack =
    "SIGSEGV: it ran over its stack (recursion too deep, or a local array too large; `ulimit -s` "
    "rules the main thread's stack, OMP_STACKSIZE those of OpenMP's threads)";

void report(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  // Only the first of several crashing threads speaks, and the others wait for the end that it
  // brings; a crash inside the report ends it.
  const auto me = static_cast<pid_t>(::syscall(SYS_gettid));
  pid_t nobody = 0;
  if (!reporting.compare_exchange_strong(nobody, me) && nobody != me) {
    for (;;) {
      // Wait: for the end of the process.
      ::pause();
    }
  }
  if (nobody == 0) {
    base::last_words head;
    head.add({prefix.data(), ::strnlen(prefix.data(), prefix.size())});
    // Asked here: a process that the rank has forked has the handlers too.
    head.add_number(static_cast<std::uintptr_t>(::getpid()));
    head.add(": ");
    const bool full = signal == SIGSEGV && base::ran_over_stack(info->si_addr, context);
    head.add(full ? full_stack : name_of(signal));
    if (signal == SIGSEGV || signal == SIGBUS) {
      head.add(", address 0x");
      head.add_number(reinterpret_cast<std::uintptr_t>(info->si_addr), 16);
    }
    head.add("; backtrace, innermost call first:\n");
    head.write();
    base::write_backtrace();
  }
  // The signal is blocked until we return.
  ::signal(signal, SIG_DFL);
  ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal);
  errno = saved;
}

}  // namespace

void install_crash_report(const place& where) {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) {
    host[0] = '\0';
  }
  const std::string text = "sinew: rank " + to_string(where.rank) + " of " +
                           std::to_string(where.known_size()) + " crashed on " + host + ", pid ";
  prefix.fill('\0');
  std::memcpy(prefix.data(), text.data(), std::min(text.size(), prefix.size() - 1));
  base::prepare_last_words();
  for (const int signal : signals) {
    if (signal == SIGSEGV && base::report_faults(report)) {
      continue;
    }
    struct sigaction now{};
    if (::sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
        now.sa_handler != SIG_DFL) {
      continue;
    }
    struct sigaction mine{};
    mine.sa_sigaction = report;
    mine.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK);
    ::sigemptyset(&mine.sa_mask);
    ::sigaction(signal, &mine, nullptr);
  }
}

}  // namespace sinew::boot
