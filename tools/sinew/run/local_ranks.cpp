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
  return "rank " + std::to_string(rank) + (size != 0 ? " of " + std::to_string(size) : "") +
         " (pid " + std::to_string(pid) + " on " + host + ")";
}

local_ranks::local_ranks(const run_options& options, const job_plan& plan, event_loop& loop,
                         rank_events events, stream_setter streams, inherited_memory memory)
    : options_(options),
      plan_(plan),
      loop_(loop),
      events_(std::move(events)),
      streams_(std::move(streams)),
      ranks_(std::max(plan.local.size(), static_cast<std::size_t>(memory.places))),
      reaper_(static_cast<int>(ranks_.size())),
      environment_(clean_environment()),
      memory_(std::move(memory)) {
  SINEW_EXPECT(memory_.places == 0 || plan.local.size() == plan.ranks.size());
  for (std::size_t index = 0; index < ranks_.size(); ++index) {
    ranks_[index].rank = index < plan.local.size() ? plan.local[index] : static_cast<int>(index);
  }
}

int local_ranks::index_of(int rank) const {
  if (memory_.places != 0) {
    return rank;
  }
  const auto found = std::lower_bound(plan_.local.begin(), plan_.local.end(), rank);
  SINEW_EXPECT(found != plan_.local.end() && *found == rank);
  return static_cast<int>(found - plan_.local.begin());
}

start_plan local_ranks::prepare(const starting& to, int pmi_fd) {
  namespace wire = boot::launcher_wire;
  const int number = to.plan.local[static_cast<std::size_t>(to.local)];
  const planned_rank& what = to.plan.ranks[static_cast<std::size_t>(number)];
  start_plan start;
  start.program = what.program;
  start.arguments = what.what->arguments;
  start.environment =
      rank_environment(options_, to.plan, to.local, environment_, pmi_fd, memory_.node.get());
  const auto add = [&start](const char* name, std::int64_t value) {
    start.environment.push_back(std::string(name) + "=" + std::to_string(value));
  };
  if (memory_.places != 0) {
    add(wire::places, memory_.places);
  }
  if (report_at_ns_ != 0) {
    add(wire::report_at, report_at_ns_);
  }
  start.directory = what.what->directory;
  start.inherited = {pmi_fd, memory_.node.get()};
  if (memory_.survival >= 0) {
    add(wire::survival_fd, memory_.survival);
    start.inherited.push_back(memory_.survival);
  }
  start.environment.insert(start.environment.end(), to.more_environment.begin(),
                           to.more_environment.end());
  start.cpus = what.cpus;
  start.signal_mask = mask_;
  start.open_files = original_files_;
  start.pid_slot = &reaper_.pid_of(to.index);
  return start;
}

void local_ranks::tell(const state& rank, const start_plan& start) const {
  if (options_.verbose) {
    const auto started = plan_.ranks.size();
    const bool later = rank.rank >= static_cast<int>(started);
    events_.remark(rank_name(rank.rank, later ? 0 : started, rank.pid, own_host_name()) +
                   " started: " + start.program);
  }
  if (options_.report_bindings) {
    events_.remark(
        "rank " + std::to_string(rank.rank) +
        (start.cpus.empty() ? " is not bound" : " is bound to processors " + cpu_list(start.cpus)));
  }
}

/// Whoever calls tells of the start, or of its failure. A started child that could not exec is
/// reaped with the others.
std::optional<start_failure> local_ranks::start_one(const starting& what) {
  state& rank = ranks_[static_cast<std::size_t>(what.index)];
  SINEW_EXPECT(!rank.alive);
  std::array<int, 2> ends{};
  SINEW_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0,
              "no socket for rank " + std::to_string(rank.rank), std::strerror(errno),
              "raise the limit on open files (ulimit -Hn) or start fewer ranks");
  if (rank.socket) {
    loop_.forget(rank.socket.get());  // of who had the place before
  }
  rank.socket = boot::descriptor(ends[0]);
  const boot::descriptor theirs(ends[1]);
  start_plan start = prepare(what, theirs.get());
  std::vector<boot::descriptor> held;
  streams_(rank.rank, start, held);
  const start_result result = start_rank(start);
  rank.pid = result.pid;
  rank.alive = result.pid > 0;
  if (result.failure != 0) {
    return explain(start, result);
  }
  loop_.watch_input(ends[0], [this, index = what.index] {
    read_socket(ranks_[static_cast<std::size_t>(index)]);
  });
  tell(rank, start);
  return std::nullopt;
}

void local_ranks::start(const sigset_t& mask, std::int64_t report_at_ns) {
  original_files_ = raise_file_limit();
  mask_ = mask;
  report_at_ns_ = report_at_ns;
  if (!memory_.node) {
    memory_.node = boot::make_shared_memory("job");
  }
  for (int index = 0; index < static_cast<int>(plan_.local.size()); ++index) {
    const auto failed = start_one({plan_, index, index, {}});
    const state& rank = ranks_[static_cast<std::size_t>(index)];
    if (rank.alive) {
      events_.started(rank.rank, rank.pid);
    }
    if (failed) {
      return events_.not_started(rank.rank, failed->exit_code, failed->text);
    }
  }
}

/// Of a spawn that has failed: nobody has heard of this rank.
void local_ranks::end_unheard(state& rank) {
  if (rank.alive) {
    signal_rank(rank.pid, SIGKILL);
    reaper_.pid_of(static_cast<int>(&rank - ranks_.data())).store(0, std::memory_order_release);
    // Wait: for the end of a process that has just been killed.
    while (::waitpid(rank.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  rank.alive = false;
  loop_.forget(rank.socket.get());
  rank.socket.reset();
}

std::optional<start_failure> local_ranks::spawn(const job_plan& plan,
                                                const std::vector<int>& places,
                                                const std::vector<std::string>& more) {
  SINEW_EXPECT(places.size() == plan.local.size() && memory_.places != 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto failed = start_one({plan, static_cast<int>(i), places[i], more});
    if (failed) {
      for (std::size_t begun = 0; begun <= i; ++begun) {
        end_unheard(ranks_[static_cast<std::size_t>(places[begun])]);
      }
      return failed;
    }
  }
  for (const int place : places) {
    events_.started(place, ranks_[static_cast<std::size_t>(place)].pid);
  }
  return std::nullopt;
}

void local_ranks::answer(int rank, const std::string& bytes) {
  // One request is under way per rank, so an answer fits unless the rank does not read.
  const state& to = ranks_[static_cast<std::size_t>(index_of(rank))];
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
