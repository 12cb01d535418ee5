#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/run/binding.hpp"
#include "sinew/run/job.hpp"
#include "sinew/run/trace_merge.hpp"

namespace sinew::tool {
namespace {

constexpr std::array watched_signals = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,
                                        SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP};

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

std::vector<int> applications_of(const job_plan& plan) {
  std::vector<int> result;
  for (const planned_rank& each : plan.ranks) {
    result.push_back(each.application);
  }
  return result;
}

}  // namespace

job::job(const run_options& options, const job_plan& plan)
    : options_(options),
      plan_(plan),
      host_(host_name()),
      pmi_(
          plan.job, applications_of(plan),
          {[this](int rank, const std::string& bytes) {
             // One request is under way per rank, so an answer fits unless the rank does not read.
             (void)::send(ranks_[static_cast<std::size_t>(rank)].socket.get(), bytes.data(),
                          bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
           },
           [this](int rank, int code, const std::string& why) { on_abort(rank, code, why); },
           [this](int rank, const std::string& why) { fail(1, rank, name_of(rank) + " " + why); }}),
      output_(loop_, static_cast<int>(plan.ranks.size())),
      input_(loop_),
      reaper_(static_cast<int>(plan.ranks.size())),
      ranks_(plan.ranks.size()),
      environment_(clean_environment()) {}

void job::take_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  signals_.emplace(watched_signals);
  loop_.watch_input(signals_->descriptor(), [this] { read_signals(); });
}

boot::descriptor job::null_device() const {
  boot::descriptor result(::open("/dev/null", O_RDWR | O_CLOEXEC));
  SINEW_CHECK(static_cast<bool>(result), "/dev/null cannot be opened", std::strerror(errno), "");
  return result;
}

boot::descriptor job::output_file(int rank, int stream) {
  std::string path;
  if (options_.output_directory.empty()) {
    path = options_.output_pattern;
    for (std::size_t at = path.find("%r"); at != std::string::npos; at = path.find("%r", at)) {
      path.replace(at, 2, std::to_string(rank));
    }
  } else {
    path = options_.output_directory + "/rank." + std::to_string(rank) +
           (stream == 1 ? ".out" : ".err");
  }
  const int number =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  SINEW_CHECK(number >= 0, "the output file " + path + " cannot be written", std::strerror(errno),
              "choose another with --output or --output-dir");
  return boot::descriptor(number);
}

void job::set_up_streams(int rank, start_plan& start, std::vector<boot::descriptor>& held) {
  const auto use = [&](std::size_t stream, boot::descriptor number) {
    start.streams[stream] = number.get();
    held.push_back(std::move(number));
  };
  const bool reads = options_.input == stdin_target::all ||
                     (options_.input == stdin_target::one_rank && options_.input_rank == rank);
  const bool terminal = ::isatty(STDIN_FILENO) == 1;
  if (!reads || (terminal && ::tcgetpgrp(STDIN_FILENO) != ::getpgrp())) {
    use(0, null_device());
  } else if (options_.input == stdin_target::all || terminal) {
    use(0, input_.open());
  }
  if (!options_.output_directory.empty()) {
    use(1, output_file(rank, 1));
    use(2, output_file(rank, 2));
  } else if (options_.output_pattern.find("%r") != std::string::npos) {
    use(1, output_file(rank, 1));
    start.streams[2] = start.streams[1];
  } else if (!options_.output_pattern.empty()) {
    if (!common_output_) {
      common_output_ = output_file(rank, 1);
    }
    start.streams[1] = start.streams[2] = common_output_.get();
  } else if (options_.label) {
    use(1, output_.open(rank, 1));
    use(2, output_.open(rank, 2));
  }
}

start_plan job::prepare(int rank, int pmi_fd) {
  const planned_rank& what = plan_.ranks[static_cast<std::size_t>(rank)];
  start_plan start;
  start.program = what.program;
  start.arguments = what.what->arguments;
  start.environment = rank_environment(options_, plan_, rank, environment_, pmi_fd, memory_.get());
  if (time_is_up_ns_ != 0) {
    start.environment.push_back(std::string(boot::launcher_wire::report_at) + "=" +
                                std::to_string(time_is_up_ns_));
  }
  start.directory = what.what->directory;
  start.inherited = {pmi_fd, memory_.get()};
  start.cpus = what.cpus;
  start.signal_mask = signals_->mask_before();
  start.open_files = original_files_;
  start.pid_slot = &reaper_.pid_of(rank);
  return start;
}

bool job::start_all() {
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    rank_state& state = ranks_[static_cast<std::size_t>(rank)];
    std::array<int, 2> ends{};
    SINEW_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0,
                "no socket for rank " + std::to_string(rank), std::strerror(errno),
                "raise the limit on open files (ulimit -Hn) or start fewer ranks");
    state.socket = boot::descriptor(ends[0]);
    const boot::descriptor theirs(ends[1]);
    start_plan start = prepare(rank, theirs.get());
    std::vector<boot::descriptor> held;
    set_up_streams(rank, start, held);
    const start_result result = start_rank(start);
    state.pid = result.pid;
    state.alive = result.pid > 0;
    alive_ += state.alive ? 1 : 0;
    if (result.failure != 0) {
      // A started child that could not exec is reaped with the others.
      const start_failure why = explain(start, result);
      fail(why.exit_code, rank, "rank " + std::to_string(rank) + " cannot be started: " + why.text);
      return false;
    }
    loop_.watch_input(ends[0], [this, rank] { read_socket(rank); });
    if (options_.verbose) {
      say(name_of(rank) + " started: " + start.program);
    }
    if (options_.report_bindings) {
      say("rank " + std::to_string(rank) +
          (start.cpus.empty() ? " is not bound"
                              : " is bound to processors " + cpu_list(start.cpus)));
    }
  }
  return true;
}

void job::remark_on_cores() const {
  const int cores = topology::usable_cpus();
  const int count = static_cast<int>(ranks_.size());
  if (count > cores && (options_.verbose || ::isatty(STDERR_FILENO) == 1)) {
    say(std::to_string(count) + " ranks share " + std::to_string(cores) +
        (cores == 1 ? " processor" : " processors"));
  }
}

int job::run() {
  take_signals();
  ::getrlimit(RLIMIT_NOFILE, &original_files_);
  rlimit most = original_files_;
  most.rlim_cur = most.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &most);
  if (!options_.output_directory.empty() && ::mkdir(options_.output_directory.c_str(), 0777) != 0) {
    SINEW_CHECK(errno == EEXIST, options_.output_directory + " cannot be made",
                std::strerror(errno), "choose another directory with --output-dir");
  }
  memory_ = boot::make_shared_memory("job");
  for (const std::string& each : plan_.remarks) {
    say(each);
  }
  remark_on_cores();
  if (options_.timeout_s > 0) {
    time_is_up_ns_ = now_ns() + static_cast<std::int64_t>(options_.timeout_s * 1e9);
  }
  if (start_all()) {
    input_.start();
  }
  while (alive_ > 0) {
    loop_.run_once(wait_ms());
    check_deadlines();
  }
  // What the ranks wrote last; a process that left its group could hold a pipe open for ever.
  const std::int64_t patience_ns = now_ns() + 100'000'000;
  while (!output_.done() && now_ns() < patience_ns) {
    loop_.run_once(10);
  }
  output_.close_sources();
  while (!output_.done()) {
    loop_.run_once(100);
  }
  if (!options_.trace.empty()) {
    say(merge_traces(options_.trace, static_cast<int>(ranks_.size())));
  }
  return exit_code_.value_or(0);
}

}  // namespace sinew::tool
