// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/job.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/run/local_ranks.hpp"
#include "sinew/run/own_libraries.hpp"
#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {
namespace {

/// As shells and the dynamic linker say it.
constexpr int not_found_code = 127;

constexpr double report_grace_s = 0.5;
// A person's ^C may be answered by saving something.
constexpr double interrupt_grace_s = 2.0;
// From the first word of a lost rank's host, until its end must have been told.
constexpr std::int64_t loss_grace_ns = 1'500'000'000;
constexpr int loss_look_ms = 100;

std::int64_t after(double seconds) { return now_ns() + static_cast<std::int64_t>(seconds * 1e9); }

std::string_view why_killed(exhausted what) {
  switch (what) {
    case exhausted::memory:
      return "; most likely the kernel killed it because memory ran out (its count of such kills "
             "rose): use less memory per rank, or fewer ranks";
    case exhausted::processor_time:
      return "; it has used the processor time that it may (ulimit -t): raise that limit";
    case exhausted::nothing:
      break;
  }
  return "";
}

// An exit status has 8 bits; a failure must not look like success.
int as_exit_code(int code) { return code != 0 && (code & 0xff) == 0 ? 1 : code & 0xff; }

}  // namespace

void job::say(const std::string& text) {
  output_.hurry();
  // One write, so that lines of ranks do not tear it.
  const std::string line = "sinew run: " + terminal_text(as_sentence(text)) + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  report_.tell(line);
}

const std::string& job::host_of(int rank) const {
  return rank >= ranks_at_start() || plan_.hosts.empty() ? host_ : plan_.hosts.host(rank);
}

std::string job::name_of(int rank) const {
  const rank_state& state = state_of(rank);
  if (rank >= ranks_at_start()) {
    const std::string spawner =
        state.in != nullptr ? ", spawned by rank " + std::to_string(state.in->spawner) : "";
    return rank_name(rank, 0, state.pid, host_) + spawner;
  }
  return rank_name(rank, plan_.ranks.size(), state.pid, host_of(rank));
}

void job::read_signals() {
  bool child = false;
  for (const int signal : signals_->take()) {
    switch (signal) {
      case SIGCHLD:
        child = true;
        break;
      case SIGUSR1:
      case SIGUSR2:
        holder_->signal_all(signal, {});
        break;
      case SIGQUIT:
        if (options_.threads_as_fibers) {  // which the stacks of a process do not show
          holder_->signal_all(SIGQUIT, {});
        }
        tell_where_all_stand(telling::always);
        break;
      case SIGTSTP:
        stop_and_continue();
        break;
      default:
        on_interrupt(signal);
    }
  }
  if (child) {
    reap_children([this](const siginfo_t& each) { holder_->on_child(each); });
    holder_->tell_exits();
  }
}

void job::on_interrupt(int signal) {
  const bool at_once = ++interrupts_ > 1 || !goes_on();
  if (alive_ + unsettled_ > 0) {
    exit_code_ = exit_code_.value_or(128 + signal);
    say("interrupted by " + signal_name(signal) + "; the ranks " +
        (at_once ? "are killed"
                 : "have " + std::to_string(static_cast<int>(interrupt_grace_s)) +
                       " s to end, a second signal ends them at once"));
  }
  if (!at_once && signal == SIGINT) {
    tell_where_all_stand(telling::if_all_wait);
  }
  if (at_once) {
    holder_->signal_all(SIGKILL, {});
  } else {
    end(all_worlds(), signal, interrupt_grace_s);
  }
}

void job::stop_and_continue() {
  holder_->signal_all(SIGSTOP, {});
  // Here the launcher itself stops, until the shell continues it.
  ::raise(SIGSTOP);
  holder_->forgive_silence();
  holder_->signal_all(SIGCONT, {});
}

void job::settle(int rank) {
  rank_state& state = state_of(rank);
  unsettled_ -= state.settled ? 0 : 1;
  state.settled = true;
  SINEW_ENSURE(unsettled_ >= 0);
}

void job::on_started(int rank, pid_t pid) {
  rank_state& state = state_of(rank);
  SINEW_EXPECT(!state.alive);
  settle(rank);
  state.pid = pid;
  state.alive = true;
  ++alive_;
}

void job::on_exits(std::vector<rank_exit> exits) {
  std::erase_if(exits, [this](const rank_exit& each) { return !state_of(each.rank).alive; });
  for (const rank_exit& each : exits) {
    rank_state& state = state_of(each.rank);
    state.alive = false;
    forget_rank(each.rank);
    pmi_of(each.rank).leave(state.number);
    --alive_;
  }
  judge(exits);
  for (const rank_exit& each : exits) {
    if (rank_ended_) {
      rank_ended_(each.rank, state_of(each.rank).dead);
    }
    leave_world(each.rank);
  }
  serve_spawns();
}

void job::on_lost_host(int node, int code, const std::string& why) {
  const bool others_go_on = survives_host(node);
  for (int rank = 0; rank < ranks_at_start(); ++rank) {
    rank_state& state = state_of(rank);
    if (plan_.hosts.node(rank) == node) {
      const bool was_alive = std::exchange(state.alive, false);
      forget_rank(rank);
      settle(rank);
      pmi_of(rank).leave(state.number);
      alive_ -= was_alive ? 1 : 0;
      if (was_alive && others_go_on) {
        go_on_without(rank);
      }
    }
  }
  if (others_go_on) {
    say(std::string(as_clause(why)) + "; the others go on (--survive)");
    return check_waiting();
  }
  fail(as_exit_code(code), -1, why);
}

/// Whether the loss of a host is the death of its ranks: all of them have started, and others live.
bool job::survives_host(int node) const {
  bool others = false;
  for (int rank = 0; rank < ranks_at_start(); ++rank) {
    const rank_state& state = state_of(rank);
    if (plan_.hosts.node(rank) == node && !state.settled) {
      return false;
    }
    others = others || (plan_.hosts.node(rank) != node && state.alive);
  }
  return options_.survive && others && !ending();
}

void job::on_output(int rank, int stream, std::string_view bytes) {
  SINEW_EXPECT(stream == 1 || stream == 2);
  const auto at = static_cast<std::size_t>(rank) * 2 + static_cast<std::size_t>(stream - 1);
  if (remote_files_.empty()) {
    return output_.feed(rank, stream, bytes);
  }
  while (!bytes.empty()) {
    const ssize_t count = ::write(remote_files_[at].get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return fail(1, rank,
                  "the output of rank " + std::to_string(rank) +
                      " cannot be written: " + std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

std::string job::cause_of(const rank_exit& exit) const {
  const std::string why(why_killed(exit.what));
  if (exit.signal != 0) {
    return "was killed by " + signal_name(exit.signal) +
           (exit.core_dumped ? ", which left a core file" : "") + why;
  }
  const pmi_server& pmi = pmi_of(exit.rank);
  const int number = state_of(exit.rank).number;
  if (exit.code == not_found_code && !pmi.initialised(number)) {
    return "exited with code " + std::to_string(exit.code) +
           ": a program or a library was not found there (sinew info program FILE says which; in a "
           "container, " +
           tree_libraries() + " has to lie at the same path)" + why;
  }
  if (exit.code != 0) {
    return "exited with code " + std::to_string(exit.code) + why;
  }
  if (pmi.initialised(number) && !pmi.finalized(number)) {
    return "exited with code 0 but without MPI_Finalize";
  }
  return "";
}

void job::judge(const std::vector<rank_exit>& exits) {
  if (options_.verbose) {
    for (const rank_exit& each : exits) {
      const std::string cause = cause_of(each);
      say(name_of(each.rank) + " " + (cause.empty() ? "ended well" : cause));
    }
  }
  if (options_.survive) {
    return survive(exits);
  }
  // Of failures seen at the same moment a crash is more likely the root than an exit code.
  for (const bool crashed : {true, false}) {
    for (const rank_exit& each : exits) {
      if (const std::string cause = cause_of(each);
          (each.signal != 0) == crashed && !cause.empty()) {
        fail(each.code == 0 ? 1 : each.code, each.rank, name_of(each.rank) + " " + cause);
      }
    }
  }
  check_waiting();
}

void job::survive(const std::vector<rank_exit>& exits) {
  for (const rank_exit& each : exits) {
    const bool ended_by_us = state_of(each.rank).in->ending;
    if (const std::string cause = cause_of(each); !cause.empty() && !ended_by_us) {
      go_on_without(each.rank);
      const bool nobody_is_left =
          std::all_of(ranks_.begin(), ranks_.end(),
                      [](const rank_state& r) { return r.in == nullptr || r.dead; });
      if (nobody_is_left) {
        return fail(each.code == 0 ? 1 : each.code, each.rank,
                    name_of(each.rank) + " " + cause + ", as all others have (--survive)");
      }
      say(name_of(each.rank) + " " + cause + "; the others go on (--survive)");
    }
  }
  check_waiting();
}

void job::go_on_without(int rank) {
  rank_state& state = state_of(rank);
  SINEW_EXPECT(!state.alive && !state.dead);
  state.dead = true;
  if (loss_ && (loss_->rank == rank || loss_->other == rank)) {
    loss_.reset();
  }
  if (!rank_ended_) {
    tell_dead(rank);
  }
  pmi_of(rank).excuse(state.number);
}

void job::when_ranks_end(std::function<void(int rank, bool died)> listener) {
  rank_ended_ = std::move(listener);
}

void job::tell_dead(int rank) {
  ++deaths_;
  holder_->tell_dead(rank);
}

void job::tell_vote(int rank, cast_vote vote) {
  vote.deaths = deaths_;
  holder_->tell_vote(rank, vote);
}

// All hosts hear of votes and deaths in the order in which this launcher tells of them.
void job::on_vote(int rank, cast_vote vote) {
  if (options_.survive && !state_of(rank).dead) {
    tell_vote(rank, vote);
  }
}

void job::check_waiting() {
  for (const world* each : all_worlds()) {  // there may be more while they are looked at
    check_waiting(*each);
  }
}

void job::check_waiting(const world& w) {
  if (w.ending) {
    return;
  }
  const auto rank_of = [&w](int number) { return w.ranks[static_cast<std::size_t>(number)]; };
  const int gone = w.spawner < 0 ? -1 : w.pmi->left_without_start();
  if (gone >= 0 && state_of(w.spawner).alive) {
    const int rank = rank_of(gone);
    fail(1, rank,
         name_of(rank) + " exited with code 0 without having called MPI_Init, which " +
             "MPI_Comm_spawn waits for; it can spawn programs of Sinew's MPI alone");
  }
  // A rank that never called MPI_Init is also missing where the others first meet.
  const pmi_server::missing_start missing = w.pmi->left_before_start();
  if (missing.who >= 0) {
    fail(1, rank_of(missing.who),
         name_of(rank_of(missing.who)) +
             " exited with code 0 without having called MPI_Init, but rank " +
             std::to_string(rank_of(missing.waiting)) +
             " has called it and would wait for ever; all ranks of a job must be programs of the "
             "same MPI, and each must call MPI_Init");
  }
  const int missed = w.pmi->missed_in_barrier();
  if (missed >= 0) {
    const int rank = rank_of(missed);
    fail(1, rank, name_of(rank) + " exited with code 0 while others wait for it");
  }
}

void job::on_loss(int rank, int other, const std::string& why) {
  if (why.empty()) {
    if (loss_ && loss_->rank == rank && loss_->other == other) {
      loss_.reset();
    }
  } else if (!ending() && !loss_ && !state_of(other).dead) {
    loss_ = loss{rank, other, why, now_ns(), 0};
  }
}

void job::on_remark(const std::string& text) {
  constexpr std::size_t most_remarks = 1000;  // ranks are not trusted with our memory
  if (remarks_.size() < most_remarks && remarks_.insert(text).second) {
    say(text);
  }
}

void job::check_loss(std::int64_t now) {
  if (!loss_ || ending()) {
    return;
  }
  // A host that was too busy to speak gets its time once it does.
  if (loss_->give_up_ns == 0 && holder_->heard_ns(loss_->other) > loss_->at_ns) {
    loss_->give_up_ns = now + loss_grace_ns;
  }
  if (loss_->give_up_ns != 0 && now >= loss_->give_up_ns) {
    const bool runs = state_of(loss_->other).alive;
    fail(1, -1,
         name_of(loss_->rank) + " has lost its connection to " + name_of(loss_->other) + " (" +
             loss_->why +
             (runs ? "), and both run: the network between their hosts does not work; `sinew info "
                     "transports --hosts` shows who reaches whom. A firewall has to let ranks "
                     "connect to any port of each other, or SINEW_NET_INTERFACES names a network "
                     "that has none"
                   : "), which has ended"));
  }
}

void job::on_abort(int rank, int code, const std::string& why) {
  fail(as_exit_code(code), rank,
       name_of(rank) + " aborted the job with code " + std::to_string(code) +
           (why.empty() ? "" : ": " + why));
}

std::string job::still_running() const {
  if (alive_ == 0) {
    return "no rank has started yet";
  }
  std::string text;
  const std::size_t nodes = plan_.hosts.empty() ? 1 : plan_.hosts.names.size();
  for (std::size_t node = 0; node < nodes; ++node) {
    std::string who;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const bool here =
          plan_.hosts.empty() || plan_.hosts.node(static_cast<int>(rank)) == static_cast<int>(node);
      if (here && ranks_[rank].alive) {
        who += (who.empty() ? "" : ", ") + std::to_string(rank);
      }
    }
    if (!who.empty()) {
      text += (text.empty() ? "still running on " : "; on ") +
              (plan_.hosts.empty() ? host_ : plan_.hosts.names[node]) + ": rank " + who;
    }
  }
  return text;
}

void job::check_deadlines() {
  const std::int64_t now = now_ns();
  const bool time_is_up = time_is_up_ns_ != 0 && now >= time_is_up_ns_ && goes_on();
  if (time_is_up && !time_told_) {
    std::string absent;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const rank_state& state = ranks_[rank];
      if (state.in != nullptr && state.in->pmi->not_started(state.number)) {
        absent += (absent.empty() ? "" : ", ") + std::to_string(rank);
      }
    }
    exit_code_ = exit_code_.value_or(124);
    const std::string what =
        "the time is up (--timeout); " + still_running() +
        (absent.empty() ? "" : "; not yet in MPI_Init, as others are: rank " + absent);
    report_.fail(-1, what);
    say(what);
    tell_where_all_stand(telling::places);
    // Ranks that wait say at this moment what for.
    time_told_ = true;
    time_is_up_ns_ = after(report_grace_s);
  } else if (time_is_up) {
    end(all_worlds(), SIGTERM, failure_grace_s);
  }
  check_loss(now);
  inquiry_.check(now);
  counting_.check(now);
  if (!failures_.empty()) {
    judge_failures();
  }
  if (forget_ended_worlds() ||
      (!wanted_spawns_.empty() && now >= wanted_spawns_.front().give_up_ns)) {
    serve_spawns();
  }
  if (next_signals_ns_ != 0 && now >= next_signals_ns_) {
    send_signals(now);
  }
}

int job::wait_ms() const {
  std::int64_t first = INT64_MAX;
  const auto note = [&first](bool counts, std::int64_t moment_ns) {
    first = counts ? std::min(first, moment_ns) : first;
  };
  note(time_is_up_ns_ != 0 && goes_on(), time_is_up_ns_);
  note(next_signals_ns_ != 0, next_signals_ns_);
  note(true, inquiry_.deadline_ns());
  note(true, counting_.deadline_ns());
  for (const failure& each : failures_) {
    note(true, each.give_up_ns);
  }
  if (!wanted_spawns_.empty()) {
    note(true, wanted_spawns_.front().give_up_ns);
  }
  const bool looks_for_loss = loss_ && !ending();
  if (first == INT64_MAX) {
    return looks_for_loss ? loss_look_ms : -1;
  }
  const std::int64_t left_ms = (first - now_ns()) / 1'000'000 + 1;
  return static_cast<int>(
      std::clamp<std::int64_t>(left_ms, 0, looks_for_loss ? loss_look_ms : 60'000));
}

}  // namespace sinew::tool
