// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/crash_report.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
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

/// Of `sinew run`, if it has started this process; else -1.
int launcher_socket = -1;
pid_t launcher = 0;
pid_t rank_process = 0;

/// Whose end the number is that was the launcher's socket: the program may have closed it.
pid_t other_end(int socket) noexcept {
  ucred peer{};
  socklen_t length = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : -1;
}

void find_launcher(const place& where) {
  const char* const number = where.launcher == "sinew" ? std::getenv("PMI_FD") : nullptr;
  launcher_socket = number != nullptr ? std::atoi(number) : -1;
  launcher = launcher_socket >= 0 ? other_end(launcher_socket) : 0;
  rank_process = ::getpid();
}

/// True: the launcher has told where this thread stands. What other threads have asked it meanwhile
/// nobody will need. Only system calls.
bool launcher_tells() noexcept {
  constexpr int patience_ms = 5000;
  static constexpr std::string_view question = "cmd=sinew_crashing\n";
  static_assert(question.substr(4, crashing.size()) == crashing);
  if (launcher_socket < 0 || ::getpid() != rank_process || other_end(launcher_socket) != launcher ||
      ::send(launcher_socket, question.data(), question.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
          static_cast<ssize_t>(question.size())) {
    return false;
  }
  std::array<char, 4096> heard{};
  std::size_t size = 0;
  pollfd ready{launcher_socket, POLLIN, 0};
  // Wait: for the launcher, which looks at this process at once.
  while (::poll(&ready, 1, patience_ms) == 1) {
    // Wait: none, something has come.
    const ssize_t got =
        ::recv(launcher_socket, heard.data() + size, heard.size() - size, MSG_DONTWAIT);
    if (got <= 0) {
      return false;
    }
    size += static_cast<std::size_t>(got);
    const std::string_view all(heard.data(), size);
    if (all.ends_with(crash_is_told) || all.ends_with(crash_is_not_told)) {
      return all.ends_with(crash_is_told);
    }
    if (size > heard.size() / 2) {  // of another conversation; the end is what counts
      std::memmove(heard.data(), heard.data() + heard.size() / 4, size - heard.size() / 4);
      size -= heard.size() / 4;
    }
  }
  return false;
}

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
    if (!launcher_tells()) {
      base::write_backtrace();
    }
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
  find_launcher(where);
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
