// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/reaper.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/run/pipe.hpp"

namespace sinew::tool {
namespace {

// Closes all descriptors from `first` on, also where close_range is missing (before Linux 5.9) or
// refused (by a container's profile). In a fork of the launcher, which has one thread, so memory
// may be allocated.
void close_from(int first) {
  if (::close_range(static_cast<unsigned>(first), ~0U, 0) == 0) {
    return;
  }
  if (DIR* const list = ::opendir("/proc/self/fd"); list != nullptr) {
    std::vector<int> open;
    while (const dirent* const entry = ::readdir(list)) {
      const int number = std::atoi(entry->d_name);  // "." and ".." give 0
      if (number >= first && number != ::dirfd(list)) {
        open.push_back(number);
      }
    }
    ::closedir(list);
    for (const int number : open) {
      ::close(number);
    }
    return;
  }
  rlimit limit{};
  constexpr rlim_t most = 1 << 20;  // what the kernel allows unless an administrator raised it
  const rlim_t end =
      ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min(limit.rlim_max, most) : most;
  for (int number = first; number < static_cast<int>(end); ++number) {
    ::close(number);
  }
}

}  // namespace

void signal_rank(pid_t pid, int signal) noexcept {
  ::kill(-pid, signal);
  if (::getpgid(pid) != pid) {
    ::kill(pid, signal);
  }
}

void reap_children(const std::function<void(const siginfo_t& child)>& ended) {
  siginfo_t child{};
  while (::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0 && child.si_pid != 0) {
    ended(child);
    ::waitpid(child.si_pid, nullptr, 0);
    child = {};
  }
}

reaper::reaper(int ranks)
    : memory_(boot::memory_mapping::anonymous(static_cast<std::size_t>(ranks) *
                                              sizeof(std::atomic<pid_t>))),
      ranks_(ranks),
      session_(::getsid(0)) {
  static_assert(std::atomic<pid_t>::is_always_lock_free);
  pids_ = new (memory_.base()) std::atomic<pid_t>[static_cast<std::size_t>(ranks)]();
  auto [input, output] = make_pipe("the launcher has no file left");
  life_line_ = std::move(output);
  pid_ = ::fork();
  SINEW_CHECK(pid_ >= 0, "the launcher cannot start a process", base::system_reason(errno),
              base::system_advice(errno));
  if (pid_ == 0) {
    watch(input.get());
  }
}

void reaper::watch(int input) const {
  ::setsid();  // a signal to the launcher's group is not for us
  ::prctl(PR_SET_NAME, "sinew-reaper");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // Whatever else fails: with this end open here, the pipe would never tell of the launcher's end.
  ::close(life_line_.get());
  // Nothing of the launcher's is kept open: not its output, which somebody may wait on.
  ::dup2(input, 0);
  close_from(1);
  (void)!::chdir("/");
  char byte = 0;
  while (::read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  kill_ranks();
  ::_exit(0);
}

void reaper::kill_ranks() const noexcept {
  for (int rank = 0; rank < ranks_; ++rank) {
    const pid_t pid = pids_[rank].load(std::memory_order_acquire);
    if (pid > 0) {
      ::kill(-pid, SIGKILL);
      // A rank may have left its group. When the launcher is gone nothing keeps the number, hence
      // the question whether it is still a process of this session.
      if (::getsid(pid) == session_ && ::getpgid(pid) != pid) {
        ::kill(pid, SIGKILL);
      }
    }
  }
}

reaper::~reaper() {
  // By the launcher itself, without waiting for the watchdog: somebody may have stopped that.
  kill_ranks();
  siginfo_t ended{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
    return;  // it was killed, and reaped among the others: the number may be another process's now
  }
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace sinew::tool
