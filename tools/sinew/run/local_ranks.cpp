#include "sinew/run/local_ranks.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/run/binding.hpp"

namespace sinew::tool {

rlimit raise_file_limit() noexcept {
  rlimit original{};
  ::getrlimit(RLIMIT_NOFILE, &original);
  rlimit most = original;
  most.rlim_cur = most.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &most);
  return original;
}

std::string own_host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

std::string rank_name(int rank, std::size_t size, pid_t pid, const std::string& host) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(size) + " (pid " +
         std::to_string(pid) + " on " + host + ")";
}

local_ranks::local_ranks(const run_options& options, const job_plan& plan, event_loop& loop,
                         rank_events events, stream_setter streams, int survival_memory)
    : options_(options),
      plan_(plan),
      loop_(loop),
      events_(std::move(events)),
      streams_(std::move(streams)),
      reaper_(static_cast<int>(plan.local.size())),
      environment_(clean_environment()),
      survival_memory_(survival_memory) {
  for (const int rank : plan.local) {
    SINEW_EXPECT(rank >= 0 && static_cast<std::size_t>(rank) < plan.ranks.size());
    ranks_.emplace_back().rank = rank;
  }
}

start_plan local_ranks::prepare(int index, int pmi_fd, const sigset_t& mask,
                                std::int64_t report_at_ns) {
  const int rank = ranks_[static_cast<std::size_t>(index)].rank;
  const planned_rank& what = plan_.ranks[static_cast<std::size_t>(rank)];
  start_plan start;
  start.program = what.program;
  start.arguments = what.what->arguments;
  start.environment = rank_environment(options_, plan_, index, environment_, pmi_fd, memory_.get());
  if (report_at_ns != 0) {
    start.environment.push_back(std::string(boot::launcher_wire::report_at) + "=" +
                                std::to_string(report_at_ns));
  }
  start.directory = what.what->directory;
  start.inherited = {pmi_fd, memory_.get()};
  if (survival_memory_ >= 0) {
    start.environment.push_back(std::string(boot::launcher_wire::survival_fd) + "=" +
                                std::to_string(survival_memory_));
    start.inherited.push_back(survival_memory_);
  }
  start.cpus = what.cpus;
  start.signal_mask = mask;
  start.open_files = original_files_;
  start.pid_slot = &reaper_.pid_of(index);
  return start;
}

void local_ranks::tell(const state& rank, const start_plan& start) const {
  if (options_.verbose) {
    events_.remark(rank_name(rank.rank, plan_.ranks.size(), rank.pid, own_host_name()) +
                   " started: " + start.program);
  }
  if (options_.report_bindings) {
    events_.remark(
        "rank " + std::to_string(rank.rank) +
        (start.cpus.empty() ? " is not bound" : " is bound to processors " + cpu_list(start.cpus)));
  }
}

bool local_ranks::start_one(int index, const sigset_t& mask, std::int64_t report_at_ns) {
  state& rank = ranks_[static_cast<std::size_t>(index)];
  SINEW_EXPECT(!rank.alive && rank.pid < 0);
  std::array<int, 2> ends{};
  SINEW_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0,
              "no socket for rank " + std::to_string(rank.rank), std::strerror(errno),
              "raise the limit on open files (ulimit -Hn) or start fewer ranks");
  rank.socket = boot::descriptor(ends[0]);
  const boot::descriptor theirs(ends[1]);
  start_plan start = prepare(index, theirs.get(), mask, report_at_ns);
  std::vector<boot::descriptor> held;
  streams_(rank.rank, start, held);
  const start_result result = start_rank(start);
  rank.pid = result.pid;
  rank.alive = result.pid > 0;
  if (rank.alive) {
    events_.started(rank.rank, rank.pid);
  }
  if (result.failure != 0) {
    // A started child that could not exec is reaped with the others.
    const start_failure why = explain(start, result);
    events_.not_started(rank.rank, why.exit_code, why.text);
    return false;
  }
  loop_.watch_input(ends[0],
                    [this, index] { read_socket(ranks_[static_cast<std::size_t>(index)]); });
  tell(rank, start);
  return true;
}

void local_ranks::start(const sigset_t& mask, std::int64_t report_at_ns) {
  original_files_ = raise_file_limit();
  memory_ = boot::make_shared_memory("job");
  for (int index = 0; index < static_cast<int>(ranks_.size()); ++index) {
    if (!start_one(index, mask, report_at_ns)) {
      return;
    }
  }
}

void local_ranks::answer(int rank, const std::string& bytes) {
  const auto found = std::lower_bound(plan_.local.begin(), plan_.local.end(), rank);
  SINEW_EXPECT(found != plan_.local.end() && *found == rank);
  // One request is under way per rank, so an answer fits unless the rank does not read.
  const state& to = ranks_[static_cast<std::size_t>(found - plan_.local.begin())];
  (void)::send(to.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void local_ranks::signal_all(int signal) {
  killed_by_us_ = killed_by_us_ || (signal != SIGUSR1 && signal != SIGUSR2 && signal != SIGSTOP &&
                                    signal != SIGCONT);
  for (const state& each : ranks_) {
    if (each.alive) {
      signal_rank(each.pid, signal);
    }
  }
}

void local_ranks::read_socket(const state& rank) {
  std::array<char, 16'384> bytes;
  while (true) {
    const ssize_t got = ::recv(rank.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      events_.said(rank.rank, {bytes.data(), static_cast<std::size_t>(got)});
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      loop_.forget(rank.socket.get());
    }
    if (got == 0 || errno != EINTR) {
      return;
    }
  }
}

void local_ranks::on_child() {
  std::vector<rank_exit> exits;
  while (true) {
    siginfo_t info{};
    // The zombie is kept at first: while it exists its pid names no other process group.
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
      break;
    }
    const pid_t pid = info.si_pid;
    const auto found = std::find_if(ranks_.begin(), ranks_.end(), [pid](const state& each) {
      return each.alive && each.pid == pid;
    });
    if (found != ranks_.end()) {
      read_socket(*found);
      ::kill(-pid, SIGKILL);  // what it left running; the rank itself is a zombie
      reaper_.pid_of(static_cast<int>(found - ranks_.begin())).store(0, std::memory_order_release);
      found->alive = false;
      const bool by_signal = info.si_code != CLD_EXITED;
      // Those that this launcher kills need no reason. A shell hands on what its program got.
      const bool killed = !killed_by_us_ && info.si_status == (by_signal ? SIGKILL : 128 + SIGKILL);
      exits.push_back({found->rank, by_signal ? 128 + info.si_status : info.si_status,
                       by_signal ? info.si_status : 0, info.si_code == CLD_DUMPED,
                       killed && memory_kills_.rose()});
    }
    ::waitpid(pid, nullptr, 0);
  }
  if (!exits.empty()) {
    events_.ended(exits);
  }
}

}  // namespace sinew::tool
