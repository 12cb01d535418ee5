// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace sinew::tool {
namespace {

constexpr std::size_t most_output = 1 << 20;
constexpr double grace_s = 2;  // between SIGTERM and SIGKILL

volatile std::sig_atomic_t interrupt_seen = 0;

void note_interrupt(int) { interrupt_seen = 1; }

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Our children by /proc: field 4 of stat is the parent; the name before it may hold anything, so
// the fields are counted from the last ')'.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) {
    return found;
  }
  while (const dirent* entry = readdir(proc)) {
    const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0) {
      continue;
    }
    std::ifstream stat("/proc/" + std::string(entry->d_name) + "/stat");
    std::string line;
    if (!std::getline(stat, line)) {
      continue;
    }
    const std::size_t at = line.rfind(')');
    int its_parent = 0;
    char state = 0;
    if (at != std::string::npos &&
        std::sscanf(line.c_str() + at + 1, " %c %d", &state, &its_parent) == 2 &&
        its_parent == parent) {
      found.push_back(pid);
    }
  }
  closedir(proc);
  return found;
}

// Ends every child that is left. An ended child's own children become ours, hence the rounds.
void end_leftovers() {
  for (int round = 0; round < 50; ++round) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const std::vector<pid_t> left = children_of(getpid());
    if (left.empty()) {
      return;
    }
    for (const pid_t pid : left) {
      kill(pid, SIGKILL);
    }
    usleep(2000);
  }
}

[[noreturn]] void become(const command& what, int out, int err, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) {
    _exit(127);
  }
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  for (const int s : {SIGINT, SIGTERM, SIGPIPE}) {
    sigaction(s, &by_default, nullptr);
  }
  const int in = open("/dev/null", O_RDONLY);
  if (in >= 0) {
    dup2(in, 0);
  }
  dup2(out, 1);
  dup2(err, 2);
  unsetenv("SINEW_BENCH_PEERS");  // ours alone: a rank would call it unknown
  for (const auto& [name, value] : what.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> arguments;
  arguments.reserve(what.words.size() + 1);
  for (const std::string& word : what.words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "cannot execute %s: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

// Reads what is there; false at the end of the stream.
bool drain(int fd, std::string& text) {
  std::array<char, 16384> block;
  const ssize_t got = read(fd, block.data(), block.size());
  if (got <= 0) {
    return got < 0 && (errno == EINTR || errno == EAGAIN);
  }
  const std::size_t room = most_output - std::min(text.size(), most_output);
  text.append(block.data(), std::min(room, static_cast<std::size_t>(got)));
  return true;
}

// A descriptor that becomes readable when the child ends, so that its end is seen at once; -1 where
// the kernel has none (then the loop below looks every few milliseconds).
int open_pidfd(pid_t child) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, child, 0));
#else
  (void)child;
  return -1;
#endif
}

// Waits for the end of `child` while reading both pipes. The pipes may outlive the child (a daemon
// holds them) or end before it; the child's end is what counts.
int watch(pid_t child, const command& what, std::array<int, 2> fds, command_result& result,
          double& ended_at) {
  const double begin = seconds_now();
  const int end = open_pidfd(child);
  double term_at = 0;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno == ECHILD)) {
      break;
    }
    std::array<pollfd, 3> wait{{{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}, {end, POLLIN, 0}}};
    (void)poll(wait.data(), wait.size(), end < 0 ? 2 : 50);
    for (std::size_t i = 0; i < 2; ++i) {
      if (fds[i] >= 0 && (wait[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 &&
          !drain(fds[i], i == 0 ? result.output : result.errors)) {
        close(fds[i]);
        fds[i] = -1;
      }
    }
    const double now = seconds_now();
    if (term_at == 0 && (now - begin > what.timeout_s || interrupt_seen != 0)) {
      result.timed_out = interrupt_seen == 0;
      result.interrupted = interrupt_seen != 0;
      kill(-child, SIGTERM);
      term_at = now;
    } else if (term_at != 0 && now - term_at > grace_s) {
      kill(-child, SIGKILL);
    }
  }
  ended_at = seconds_now();
  if (end >= 0) {
    close(end);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (fds[i] < 0) {
      continue;
    }
    fcntl(fds[i], F_SETFL, O_NONBLOCK);
    std::string& text = i == 0 ? result.output : result.errors;
    for (std::size_t before = text.size() + 1; before != text.size();) {
      before = text.size();
      if (!drain(fds[i], text)) {
        break;
      }
    }
    close(fds[i]);
  }
  return status;
}

}  // namespace

void adopt_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept { return interrupt_seen != 0; }

command_result run_command(const command& what) {
  command_result result;
  std::array<int, 2> out{-1, -1}, err{-1, -1};
  if (what.words.empty() || pipe2(out.data(), O_CLOEXEC) != 0) {
    return result;
  }
  if (pipe2(err.data(), O_CLOEXEC) != 0) {
    close(out[0]);
    close(out[1]);
    return result;
  }
  const pid_t parent = getpid();
  const double begin = seconds_now();
  const pid_t child = fork();
  if (child == 0) {
    become(what, out[1], err[1], parent);
  }
  close(out[1]);
  close(err[1]);
  if (child < 0) {
    close(out[0]);
    close(err[0]);
    result.errors = std::string("cannot fork: ") + std::strerror(errno);
    return result;
  }
  setpgid(child, child);
  double ended_at = begin;
  const int status = watch(child, what, {out[0], err[0]}, result, ended_at);
  result.wall_s = ended_at - begin;
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  end_leftovers();
  return result;
}

}  // namespace sinew::tool
