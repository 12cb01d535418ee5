// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/trial.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <initializer_list>

namespace sinew::coarray {
namespace {

constexpr int ended_otherwise = 255;

[[noreturn]] void be_tried(int (*body)(void*), void* context) {
  // No messages, no core file, none of the parent's exit handlers: any way to end is a result.
  for (const int fault : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) {
    (void)::signal(fault, SIG_DFL);
  }
  const rlimit none{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &none);
  (void)std::atexit([] { ::_exit(ended_otherwise); });
  (void)::close(STDOUT_FILENO);
  (void)::close(STDERR_FILENO);
  (void)::alarm(10);
  int result = ended_otherwise;
  try {
    result = body(context);
  } catch (...) {
    result = ended_otherwise;
  }
  ::_exit(result);
}

}  // namespace

int in_child(int (*body)(void*), void* context) {
  const pid_t child = ::fork();
  if (child < 0) {
    return not_tried;
  }
  if (child == 0) {
    be_tried(body, context);
  }
  int status = 0;
  // By itself: where threads are fibers, the C library's waitpid is theirs (abi/threads).
  while (::syscall(SYS_wait4, child, &status, 0, nullptr) < 0) {
    if (errno != EINTR) {
      return not_tried;  // the program ignores its children
    }
  }
  return WIFEXITED(status) && WEXITSTATUS(status) != ended_otherwise ? WEXITSTATUS(status) : died;
}

}  // namespace sinew::coarray
