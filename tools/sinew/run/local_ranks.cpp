// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/local_ranks.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "sinew/ask/stacks.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/run/hosts.hpp"
#include "sinew/run/other_mpi.hpp"

namespace sinew::tool {
namespace {

// Ranks on Sinew have called it by then, so that nobody looks into them.
constexpr std::int64_t first_look_ns = 100'000'000;
constexpr std::int64_t least_between_looks_ns = 50'000'000;

/// Of a zombie: it, and what it has waited for, have used what the limit allows. (At the hard
/// limit the kernel sends SIGKILL.)
bool processor_time_is_up(pid_t pid) {
  rlimit limit{};
  siginfo_t info{};
  rusage used{};
  // The C library's waitid() does not hand out what the system call tells.
  if (::prlimit(pid, RLIMIT_CPU, nullptr, &limit) != 0 || limit.rlim_max == RLIM_INFINITY ||
      ::syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG, &used) != 0) {
    return false;
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  // The kernel ends it by its count of ticks, and tells what it has measured: where others run on
  // the processor the two differ by a tenth and more.
  constexpr double counted = 0.75;
  return seconds(used.ru_utime) + seconds(used.ru_stime) >=
         counted * static_cast<double>(limit.rlim_max);
}

}  // namespace

rlimit raise_file_limit() noexcept {
  rlimit original{};
  ::getrlimit(RLIMIT_NOFILE, &original);
  rlimit most = original;
  most.rlim_cur = most.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &most);
  return original;
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
      idle_(static_cast<std::int64_t>(options.silence_s * 1e9)),
      memory_(std::move(memory)),
      looks_for_other_mpi_(!plan.other_mpi_told) {
  SINEW_EXPECT(memory_.places == 0 || plan.local.size() == plan.ranks.size());
  if (options.survive) {
    survival_memory_ = boot::make_shared_memory("survival");
    survival_ = std::make_unique<boot::survival>(
        survival_memory_.get(), std::max(static_cast<int>(plan.ranks.size()), memory_.places));
  }
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
  if (survival_ != nullptr) {
    add(wire::survival_fd, survival_memory_.get());
    start.inherited.push_back(survival_memory_.get());
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
    events_.remark("rank " + std::to_string(rank.rank) +
                   (start.cpus.empty()
                        ? " is not bound"
                        : " is bound to processors " + base::ranges_text(start.cpus)));
  }
}

/// Whoever calls tells of the start, or of its failure. A started child that could not exec is
/// reaped with the others.
std::optional<start_failure> local_ranks::start_one(const starting& what) {
  state& rank = ranks_[static_cast<std::size_t>(what.index)];
  SINEW_EXPECT(!rank.alive);
  std::array<int, 2> ends{};
  SINEW_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0,
              "no socket for rank " + std::to_string(rank.rank), base::system_reason(errno),
              base::system_advice(errno, "start fewer ranks"));
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
  rank.killed_by_us = false;
  rank.has_spoken = false;
  if (result.failure != 0) {
    return explain(start, result);
  }
  loop_.watch_input(ends[0], [this, index = what.index] {
    read_socket(ranks_[static_cast<std::size_t>(index)]);
  });
  idle_.add(rank.rank, rank.pid);
  if (options_.binding == binding_policy::automatic && !start.cpus.empty()) {
    bindings_.add(rank.pid, start.cpus);
  }
  tell(rank, start);
  return std::nullopt;
}

void local_ranks::start(const sigset_t& mask, std::int64_t report_at_ns) {
  original_files_ = raise_file_limit();
  mask_ = mask;
  report_at_ns_ = report_at_ns;
  started_ns_ = now_ns();
  next_look_ns_ = started_ns_ + first_look_ns;
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

void local_ranks::signal_all(int signal, const std::vector<int>& spared) {
  const bool ends = signal != SIGUSR1 && signal != SIGUSR2 && signal != SIGSTOP &&
                    signal != SIGCONT && signal != SIGQUIT;
  for (state& each : ranks_) {
    if (each.alive && !std::binary_search(spared.begin(), spared.end(), each.rank)) {
      each.killed_by_us = each.killed_by_us || ends;
      signal_rank(each.pid, signal);
    }
  }
}

void local_ranks::ask(int rank, wanted_of_rank what) {
  for (const state& each : ranks_) {
    if (each.alive && (rank == every_rank || rank == each.rank)) {
      const rank_stacks found = what == wanted_of_rank::stacks
                                    ? read_stacks(each.pid)
                                    : rank_stacks{.numbers = read_numbers(each.pid)};
      events_.stands(each.rank, found.pack());
    }
  }
}

void local_ranks::read_all() {
  for (state& each : ranks_) {
    if (each.alive) {
      read_socket(each);
    }
  }
}

void local_ranks::tell_dead(int rank) {
  SINEW_EXPECT(survival_ != nullptr);
  survival_->mark_dead(job_rank{rank});
}

void local_ranks::tell_vote(int rank, const cast_vote& vote) {
  SINEW_EXPECT(survival_ != nullptr);
  survival_->note(job_rank{rank}, vote);
}

int local_ranks::look_after() {
  const std::int64_t now = now_ns();
  const int bindings = look_at_bindings(now);
  const int other_mpi = look_for_other_mpi(now);
  int next = -1;
  for (const int each : {bindings, other_mpi, look_for_idle(now)}) {
    next = next < 0 ? each : each < 0 ? next : std::min(next, each);
  }
  return next;
}

int local_ranks::look_for_idle(std::int64_t now) {
  idle_.look(now, events_.idle);
  return idle_.wait_ms(now);
}

/// Ranks that were bound by default are let go once they wait for their processors.
int local_ranks::look_at_bindings(std::int64_t now) {
  if (bindings_.look(now)) {
    bindings_.release(topology::usable_cpu_list());
    if (options_.verbose || options_.report_bindings) {
      events_.remark("the ranks are not bound any more, since they waited for their processors");
    }
  }
  return bindings_.wait_ms(now);
}

void local_ranks::read_socket(state& rank) {
  std::array<char, 16'384> bytes;
  while (true) {
    const ssize_t got = ::recv(rank.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      note_call(rank, {bytes.data(), static_cast<std::size_t>(got)});
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

/// The first words of a rank: by them Sinew's MPI differs from another one's that speaks PMI-1,
/// too.
void local_ranks::note_call(state& rank, std::string_view bytes) {
  if (!looks_for_other_mpi_ || std::exchange(rank.has_spoken, true)) {
    return;
  }
  if (bytes.starts_with(std::string("cmd=") + boot::launcher_wire::hello)) {
    looks_for_other_mpi_ = false;
  } else {
    tell_other_mpi(rank.rank, loaded_other_mpi(rank.pid));
  }
}

void local_ranks::tell_other_mpi(int rank, const std::string& path) {
  if (!path.empty()) {
    looks_for_other_mpi_ = false;
    events_.other_mpi(rank, path);
  }
}

/// Looks into one rank after the other. What a rank has opened can be seen only while it lives, so
/// the looks follow each other at an eighth of its age: each costs a read of /proc.
int local_ranks::look_for_other_mpi(std::int64_t now) {
  if (!looks_for_other_mpi_ || started_ns_ == 0) {
    return -1;
  }
  if (now >= next_look_ns_ && !plan_.local.empty()) {
    const state& rank = ranks_[looks_++ % plan_.local.size()];
    if (rank.alive) {
      tell_other_mpi(rank.rank, loaded_other_mpi(rank.pid));
    }
    next_look_ns_ = now + std::max(least_between_looks_ns, (now - started_ns_) / 8);
  }
  return static_cast<int>((next_look_ns_ - now) / 1'000'000 + 1);
}

/// When the last rank has ended: what all its libraries and theirs name. Nobody asks that of a job
/// that has failed.
void local_ranks::look_at_programs(const std::vector<rank_exit>& exits) {
  const bool failed =
      std::any_of(exits.begin(), exits.end(), [](const rank_exit& each) { return each.code != 0; });
  looks_for_other_mpi_ = looks_for_other_mpi_ && !failed;
  if (std::any_of(ranks_.begin(), ranks_.end(), [](const state& each) { return each.alive; })) {
    return;
  }
  const application* looked_at = nullptr;
  for (const int number : plan_.local) {
    const planned_rank& rank = plan_.ranks[static_cast<std::size_t>(number)];
    if (looks_for_other_mpi_ && rank.what != looked_at) {
      looked_at = rank.what;
      tell_other_mpi(number, other_mpi_of(*rank.what, rank.program));
    }
  }
  looks_for_other_mpi_ = false;
}

/// Of a zombie. Those that this launcher kills need no reason. A shell hands on what its program
/// got.
exhausted local_ranks::why_killed(const state& rank, int signal) {
  if (signal == SIGXCPU || (signal == SIGKILL && processor_time_is_up(rank.pid))) {
    return exhausted::processor_time;
  }
  return signal == SIGKILL && !rank.killed_by_us && memory_kills_.rose() ? exhausted::memory
                                                                         : exhausted::nothing;
}

void local_ranks::on_child(const siginfo_t& child) {
  const pid_t pid = child.si_pid;
  const auto found = std::find_if(ranks_.begin(), ranks_.end(), [pid](const state& each) {
    return each.alive && each.pid == pid;
  });
  if (found == ranks_.end()) {
    return;
  }
  read_socket(*found);
  ::kill(-pid, SIGKILL);  // what it left running; the rank itself is a zombie
  reaper_.pid_of(static_cast<int>(found - ranks_.begin())).store(0, std::memory_order_release);
  found->alive = false;
  bindings_.remove(pid);
  const int status = child.si_status;
  const bool by_signal = child.si_code != CLD_EXITED;
  exits_.push_back({found->rank, by_signal ? 128 + status : status, by_signal ? status : 0,
                    child.si_code == CLD_DUMPED,
                    why_killed(*found, status - (by_signal ? 0 : 128))});
}

void local_ranks::tell_exits() {
  if (const auto exits = std::exchange(exits_, {}); !exits.empty()) {
    events_.ended(exits);
    look_at_programs(exits);
  }
}

}  // namespace sinew::tool
