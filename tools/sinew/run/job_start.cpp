// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/profile/profile_command.hpp"
#include "sinew/run/job.hpp"
#include "sinew/run/local_ranks.hpp"
#include "sinew/run/own_libraries.hpp"
#include "sinew/run/remote_ranks.hpp"
#include "sinew/run/terminal_text.hpp"
#include "sinew/run/trace_merge.hpp"

namespace sinew::tool {
namespace {

constexpr std::array watched_signals = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,
                                        SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP};

/// What the fabric lays a node's memory out for, at most.
constexpr int most_places = 8192;

std::vector<int> applications_of(const job_plan& plan) {
  std::vector<int> result;
  for (const planned_rank& each : plan.ranks) {
    result.push_back(each.application);
  }
  return result;
}

}  // namespace

job::job(const run_options& options, const job_plan& plan, std::vector<std::string> words)
    : options_(options),
      plan_(plan),
      host_(own_host_name()),
      report_(options.report),
      output_(loop_, static_cast<int>(plan.ranks.size()), options.label),
      input_(loop_),
      ranks_(plan.ranks.size()),
      holder_(make_holder(std::move(words))),
      unsettled_(static_cast<int>(plan.ranks.size())) {
  world& start = add_world(applications_of(plan), plan.hosts.node_of, -1);
  for (int rank = 0; rank < ranks_at_start(); ++rank) {
    start.ranks.push_back(rank);
    state_of(rank).in = &start;
    state_of(rank).number = rank;
  }
  start.living = ranks_at_start();
}

rank_events job::make_events() {
  return {
      [this](int rank, pid_t pid) { on_started(rank, pid); },
      [this](int rank, int code, const std::string& why) {
        settle(rank);
        fail(code, rank, "rank " + std::to_string(rank) + " cannot be started: " + why);
      },
      [this](int rank, std::string_view bytes) {
        const rank_state& from = state_of(rank);
        if (from.in != nullptr) {
          pmi_of(rank).receive(from.number, bytes);
        }
        check_waiting();
      },
      [this](const std::vector<rank_exit>& exits) { on_exits(exits); },
      [this](const std::string& text) { say(text); },
      [this](int rank, std::string_view stacks) { on_stacks(rank, rank_stacks::unpack(stacks)); },
      [this](int rank, bool idle) { on_idle(rank, idle); },
      [this](int rank, const std::string& path) {
        other_mpi_ = other_mpi_.value_or(other_mpi{rank, path});
      }};
}

std::unique_ptr<rank_holder> job::make_holder(std::vector<std::string> words) {
  if (plan_.hosts.empty()) {
    inherited_memory memory{.node = boot::make_shared_memory("job")};
    const int room = options_.simulate
                         ? 0  // the simulated network has the ranks of the start
                         : std::min(boot::room_for_spawned(), most_places - ranks_at_start());
    if (room > 0 && boot::is_free_until_touched(memory.node.get())) {
      memory.places = ranks_at_start() + room;
      ranks_.resize(static_cast<std::size_t>(memory.places));
    }
    return std::make_unique<local_ranks>(
        options_, plan_, loop_, make_events(),
        [this](int rank, start_plan& start, std::vector<boot::descriptor>& held) {
          set_up_streams(rank, start, held);
        },
        std::move(memory));
  }
  return std::make_unique<remote_ranks>(
      options_, plan_, std::move(words), loop_, make_events(),
      host_events{
          [this] { return remote_streams(); },
          [this](int rank, int stream, std::string_view bytes) { on_output(rank, stream, bytes); },
          [this] { return output_.full(); },
          [this](int node, int code, const std::string& why) { on_lost_host(node, code, why); }});
}

void job::take_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  signals_.emplace(watched_signals);
  loop_.watch_input(signals_->descriptor(), [this] { read_signals(); });
}

boot::descriptor job::null_device() const {
  boot::descriptor result(::open("/dev/null", O_RDWR | O_CLOEXEC));
  SINEW_CHECK(static_cast<bool>(result), "/dev/null cannot be opened", base::system_reason(errno),
              base::system_advice(errno));
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
  // Ranks that are spawned may be the second of their number.
  const int anew = rank < ranks_at_start() ? O_TRUNC : 0;
  const int number = ::open(path.c_str(), O_WRONLY | O_CREAT | anew | O_APPEND | O_CLOEXEC, 0666);
  SINEW_CHECK(number >= 0, "the output file " + path + " cannot be written",
              base::system_reason(errno),
              base::system_advice(errno, "choose another with --output or --output-dir"));
  return boot::descriptor(number);
}

bool job::reads_input(int rank) const {
  return (options_.input == stdin_target::all && rank < ranks_at_start()) ||
         (options_.input == stdin_target::one_rank && options_.input_rank == rank);
}

// A background job may not read the terminal.
bool job::has_input() const {
  return ::isatty(STDIN_FILENO) != 1 || ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

// Of ranks on other hosts, whose streams come to us and go from us. Files are written here.
std::vector<std::pair<int, boot::descriptor>> job::remote_streams() {
  const bool one_file = !options_.output_pattern.empty();
  std::vector<std::pair<int, boot::descriptor>> inputs;
  for (int rank = 0; rank < ranks_at_start(); ++rank) {
    if (reads_input(rank)) {
      inputs.emplace_back(rank, has_input() ? input_.open() : boot::descriptor());
    }
    for (const int stream : {1, 2}) {
      if (one_file || !options_.output_directory.empty()) {
        // Opened for appending, so that several may write to one file.
        remote_files_.push_back(output_file(rank, one_file ? 1 : stream));
      }
    }
  }
  return inputs;
}

void job::set_up_streams(int rank, start_plan& start, std::vector<boot::descriptor>& held) {
  const auto use = [&](std::size_t stream, boot::descriptor number) {
    start.streams[stream] = number.get();
    held.push_back(std::move(number));
  };
  if (!reads_input(rank) || !has_input()) {
    use(0, null_device());
  } else if (options_.input == stdin_target::all || ::isatty(STDIN_FILENO) == 1) {
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

void job::remark_on_cores() {
  const int cores = topology::usable_cpus();
  const int count = ranks_at_start();
  if (plan_.hosts.empty() && count > cores && (options_.verbose || ::isatty(STDERR_FILENO) == 1)) {
    say(std::to_string(count) + " ranks share " + std::to_string(cores) +
        (cores == 1 ? " processor" : " processors"));
  }
}

// Output of other hosts that was held back while ours was full, and readers that have gone.
void job::carry_output() {
  for (const int stream : {1, 2}) {
    bool& told = told_closed_[static_cast<std::size_t>(stream - 1)];
    if (!told && output_.broken(stream)) {
      told = true;
      holder_->close_output(stream);
    }
  }
}

int job::next_wait_ms() {
  const int own = wait_ms();
  const int holders = holder_->look_after();
  return own < 0 ? holders : holders < 0 ? own : std::min(own, holders);
}

int job::run() {
  take_signals();
  serve_askers();
  if (!options_.output_directory.empty() && ::mkdir(options_.output_directory.c_str(), 0777) != 0) {
    SINEW_CHECK(errno == EEXIST, options_.output_directory + " cannot be made",
                std::strerror(errno), "choose another directory with --output-dir");
  }
  for (const std::string& each : plan_.remarks) {
    say(each);
  }
  remark_on_cores();
  if (options_.timeout_s > 0) {
    time_is_up_ns_ = now_ns() + static_cast<std::int64_t>(options_.timeout_s * 1e9);
  }
  if (!options_.profile.empty()) {
    forget_profile(options_.profile);
  }
  holder_->start(signals_->mask_before(), time_is_up_ns_);
  if (!ending()) {
    input_.start();
  }
  while (alive_ > 0 || (unsettled_ > 0 && !ending())) {
    loop_.run_once(next_wait_ms());
    carry_output();
    check_deadlines();
  }
  judge_failures(false);
  for (holder_->finish(); !holder_->done();) {
    loop_.run_once(next_wait_ms());
    carry_output();
  }
  // What the ranks wrote last; a process that left its group could hold a pipe open for ever.
  const std::int64_t give_up_ns = now_ns() + 100'000'000;
  while (!output_.done() && now_ns() < give_up_ns) {
    loop_.run_once(10);
  }
  output_.close_sources();
  while (!output_.done()) {
    loop_.run_once(100);
  }
  if (other_mpi_ && !worlds_.front()->pmi->has_ours()) {
    const std::string& path = other_mpi_->path;
    const std::string library = path.substr(path.rfind('/') + 1);
    say(name_of(other_mpi_->rank) + " has loaded another MPI, " + path +
        ", and no rank has called Sinew's, so that the job did not run on Sinew: " +
        (has_foreign(tree_libraries(), library)
             ? "let its programs open " + library + " by its name alone, which finds Sinew's"
             : "build its programs with mpicc.sinew"));
  }
  if (!options_.trace.empty()) {
    say(merge_traces(options_.trace, static_cast<int>(ranks_.size()),
                     [this](int rank) { return holder_->clock_ahead_ns(rank); }));
  }
  if (!options_.profile.empty()) {
    std::fputs(terminal_text(show_profile(options_.profile)).c_str(), stderr);
  }
  write_report();
  return exit_code_.value_or(0);
}

void job::write_report() const {
  std::string command;
  for (const application& each : options_.applications) {
    for (const std::string& word : each.arguments) {
      command += (command.empty() ? "" : " ") + word;
    }
  }
  std::vector<std::string> ranks;
  for (int rank = 0; rank < ranks_at_start(); ++rank) {
    ranks.push_back("rank " + std::to_string(rank) + " on " + host_of(rank));
  }
  report_.write(command, ranks, exit_code_.value_or(0));
}

}  // namespace sinew::tool
