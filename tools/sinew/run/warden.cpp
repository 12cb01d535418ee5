#include "sinew/run/warden.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::tool {

warden::warden(int ranks)
    : memory_(boot::memory_mapping::anonymous(static_cast<std::size_t>(ranks) *
                                              sizeof(std::atomic<pid_t>))) {
  static_assert(std::atomic<pid_t>::is_always_lock_free);
  pids_ = new (memory_.base()) std::atomic<pid_t>[static_cast<std::size_t>(ranks)]();
  std::array<int, 2> ends{};
  SINEW_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0, "the launcher has no file left",
              std::strerror(errno), "raise the limit on open files (ulimit -n)");
  const boot::descriptor input(ends[0]);
  life_line_ = boot::descriptor(ends[1]);
  pid_ = ::fork();
  SINEW_CHECK(pid_ >= 0, "the launcher cannot start a process", std::strerror(errno),
              "raise the limit on processes (ulimit -u)");
  if (pid_ == 0) {
    watch(ranks, input.get());
  }
}

void warden::watch(int ranks, int input) const {
  ::setsid();  // a signal to the launcher's group is not for us
  ::prctl(PR_SET_NAME, "sinew-warden");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // Nothing of the launcher's is kept open: not its output, which somebody may wait on.
  ::dup2(input, 0);
  ::close_range(1, ~0U, 0);
  (void)!::chdir("/");
  char byte = 0;
  while (::read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = pids_[rank].load(std::memory_order_acquire);
    if (pid > 0) {
      ::kill(-pid, SIGKILL);
    }
  }
  ::_exit(0);
}

warden::~warden() {
  life_line_.reset();
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace sinew::tool
