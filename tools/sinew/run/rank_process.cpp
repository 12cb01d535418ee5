// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/rank_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "sinew/base/system_limits.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/run/elf_file.hpp"
#include "sinew/run/signal_pipe.hpp"

namespace sinew::tool {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) {
    result.push_back(const_cast<char*>(word.c_str()));
  }
  result.push_back(nullptr);
  return result;
}

struct prepared {
  const start_plan& plan;
  pid_t launcher;
  char** arguments;
  char** environment;
  char** shell_arguments;  // for a script without "#!"; null: it is none
};

// Written by the child, which borrows our memory until it execs or ends.
struct child_report {
  volatile int failure = 0;
  volatile start_stage stage = start_stage::process;
};

void complain(child_report& report, start_stage stage) noexcept {
  report.failure = errno;
  report.stage = stage;
}

// exec does this too, but a signal may come before: the launcher's handler must not run here, in
// the launcher's memory.
void reset_handlers() noexcept {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction now{};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_DFL &&
        now.sa_handler != SIG_IGN) {
      ::signal(signal, SIG_DFL);
    }
  }
}

// In the child: only system calls, and no change to what the parent relies on.
void become(const prepared& rank, child_report& report) noexcept {
  const start_plan& plan = rank.plan;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != rank.launcher) {
    ::_exit(127);  // the launcher died before the line above took effect
  }
  ::setpgid(0, 0);
  if (plan.pid_slot != nullptr) {
    plan.pid_slot->store(::getpid(), std::memory_order_release);
  }
  for (int target = 0; target < 3; ++target) {
    const int source = plan.streams[static_cast<std::size_t>(target)];
    if (source != target && ::dup2(source, target) < 0) {
      return complain(report, start_stage::streams);
    }
  }
  for (const int number : plan.inherited) {
    ::fcntl(number, F_SETFD, 0);
  }
  if (!plan.directory.empty() && ::chdir(plan.directory.c_str()) != 0) {
    return complain(report, start_stage::directory);
  }
  if (!plan.cpus.empty() && !topology::bind_thread(plan.cpus)) {
    return complain(report, start_stage::binding);
  }
  ::setrlimit(RLIMIT_NOFILE, &plan.open_files);
  ::signal(SIGPIPE, SIG_DFL);
  reset_handlers();
  ::sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  ::execve(plan.program.c_str(), rank.arguments, rank.environment);
  if (errno == ENOEXEC && rank.shell_arguments != nullptr) {
    ::execve("/bin/sh", rank.shell_arguments, rank.environment);
  }
  complain(report, start_stage::program);
}

// vfork, because copying even a small launcher's page tables costs more than all the rest. Alone
// in its function: the child runs on this frame.
[[gnu::noinline]] pid_t fork_and_become(const prepared& rank, child_report& report) {
  const signals_blocked quiet;
  const pid_t pid = ::vfork();
  if (pid == 0) {
    become(rank, report);
    ::_exit(127);
  }
  return pid;
}

bool regular_file(const std::string& path) {
  struct stat what{};
  return ::stat(path.c_str(), &what) == 0 && S_ISREG(what.st_mode);
}

// Links are not resolved: programs look at their own name (busybox, Python's venv).
std::string absolute_path(const std::string& name) {
  char* here = name[0] == '/' ? nullptr : ::getcwd(nullptr, 0);
  if (here == nullptr) {
    return name;
  }
  const std::string path = std::string(here) + "/" + name;
  std::free(here);
  return path;
}

}  // namespace

start_result start_rank(const start_plan& plan) {
  std::vector<std::string> shell = {"/bin/sh", plan.program};
  shell.insert(shell.end(), plan.arguments.begin() + 1, plan.arguments.end());
  std::vector<char*> arguments = pointers(plan.arguments);
  std::vector<char*> environment = pointers(plan.environment);
  std::vector<char*> shell_arguments = pointers(shell);
  const prepared rank{plan, ::getpid(), arguments.data(), environment.data(),
                      why_not_executable(plan.program).empty() ? shell_arguments.data() : nullptr};
  child_report report;
  start_result result;
  result.pid = fork_and_become(rank, report);
  if (result.pid < 0) {
    result.failure = errno;
    result.stage = start_stage::process;
  } else if (report.failure != 0) {
    result.failure = report.failure;
    result.stage = report.stage;
  } else {
    // The child did this too; whoever comes first, the group exists from here on.
    ::setpgid(result.pid, result.pid);
  }
  return result;
}

namespace {

// The program is there, but what the kernel would run it by is not.
std::string missing_interpreter(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  std::string line;
  if (std::getline(file, line) && line.starts_with("#!")) {
    std::istringstream words(line.substr(2));
    std::string name;
    words >> name;
    return "its first line names " + name + ", which does not exist";
  }
  const std::string linker = elf_file(program).interpreter();
  return linker.empty() ? "" : "it needs " + linker + ", which does not exist here";
}

std::string explain_program(const start_plan& plan, int failure) {
  std::string why = failure == ENOEXEC  ? why_not_executable(plan.program)
                    : failure == ENOENT ? missing_interpreter(plan.program)
                                        : "";
  return plan.program + " cannot be executed: " + (why.empty() ? std::strerror(failure) : why);
}

}  // namespace

start_failure explain(const start_plan& plan, const start_result& result) {
  const std::string reason = std::strerror(result.failure);
  switch (result.stage) {
    case start_stage::process:
      return {126, "no process can be started: " + base::system_reason(result.failure) + "; " +
                       base::system_advice(result.failure, "start fewer ranks")};
    case start_stage::streams:
      return {126, "its input or output cannot be set up: " + reason};
    case start_stage::directory:
      return {result.failure == ENOENT ? 127 : 126,
              "its directory (--wdir) " + plan.directory + " cannot be entered: " + reason};
    case start_stage::binding:
      return {126, "it cannot be bound to its processors: " + reason};
    case start_stage::program:
      break;
  }
  return {result.failure == ENOENT && ::access(plan.program.c_str(), F_OK) != 0 ? 127 : 126,
          explain_program(plan, result.failure)};
}

namespace {

program_lookup by_path(const std::string& path) {
  const auto refuse = [&path](int code, const std::string& why) {
    return program_lookup{"", code, path + ": " + why};
  };
  if (::access(path.c_str(), F_OK) != 0) {
    return refuse(errno == EACCES ? 126 : 127, std::strerror(errno));
  }
  if (!regular_file(path)) {
    return refuse(126, "is not a file");
  }
  if (::access(path.c_str(), X_OK) != 0) {
    return refuse(126, "is not executable (chmod +x " + path + ")");
  }
  return {absolute_path(path), 0, ""};
}

/// Of several that cannot be started, one that is there says more than one that is not.
program_lookup first_that_starts(const std::vector<std::string>& paths) {
  program_lookup best;
  for (const std::string& path : paths) {
    program_lookup now = by_path(path);
    if (now.exit_code == 0) {
      return now;
    }
    if (best.exit_code == 0 || (best.exit_code == 127 && now.exit_code != 127)) {
      best = std::move(now);
    }
  }
  return best;
}

}  // namespace

program_lookup find_program(const std::string& name, const std::string& directory) {
  const auto places = [&directory](const std::string& path) {
    return directory.empty() || path.front() == '/' ? std::vector{path}
                                                    : std::vector{directory + "/" + path, path};
  };
  if (name.find('/') != std::string::npos) {
    program_lookup found = first_that_starts(places(name));
    if (found.exit_code == 127 && places(name).size() > 1) {
      found.complaint = name + ": is neither in " + directory + " nor here";
    }
    return found;
  }
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  std::vector<std::string> paths;
  while (true) {
    const std::string_view entry = rest.substr(0, rest.find(':'));
    for (std::string& path : places((entry.empty() ? "." : std::string(entry)) + "/" + name)) {
      if (regular_file(path)) {
        paths.push_back(std::move(path));
      }
    }
    if (entry.size() == rest.size()) {
      break;
    }
    rest.remove_prefix(entry.size() + 1);
  }
  if (!paths.empty()) {
    return first_that_starts(paths);
  }
  const auto near = places("./" + name);
  const bool here = std::any_of(near.begin(), near.end(), regular_file);
  return {"", 127,
          name + (here ? ": not found in PATH; to run the one in this directory, write ./" + name
                       : ": not found in PATH")};
}

std::string signal_name(int signal) {
  const char* shorthand = ::sigabbrev_np(signal);
  const char* meaning = ::sigdescr_np(signal);
  std::string text = "signal " + std::to_string(signal);
  if (shorthand != nullptr && meaning != nullptr) {
    text = "SIG" + std::string(shorthand) + " (" + meaning + ")";
  }
  return text;
}

}  // namespace sinew::tool
