#include "sinew/run/job.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "sinew/base/clock.hpp"
#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {
namespace {

// After a failure the others have this long between SIGTERM and SIGKILL; a crash must have ended
// the job within 0.2 s.
constexpr double failure_grace_s = 0.1;
constexpr double report_grace_s = 0.5;
// A person's ^C may be answered by saving something.
constexpr double interrupt_grace_s = 2.0;

std::int64_t after(double seconds) { return now_ns() + static_cast<std::int64_t>(seconds * 1e9); }

// An exit status has 8 bits; a failure must not look like success.
int as_exit_code(int code) { return code != 0 && (code & 0xff) == 0 ? 1 : code & 0xff; }

}  // namespace

void job::say(const std::string& text) const {
  // One write, so that lines of ranks do not tear it.
  const std::string line = "sinew run: " + terminal_text(text) + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

std::string job::name_of(int rank) const {
  return "rank " + std::to_string(rank) + " of " + std::to_string(ranks_.size()) + " (pid " +
         std::to_string(ranks_[static_cast<std::size_t>(rank)].pid) + " on " + host_ + ")";
}

std::string job::the_others(int rank) const {
  const int others = alive_ - (ranks_[static_cast<std::size_t>(rank)].alive ? 1 : 0);
  if (others == 0) {
    return "";
  }
  return others == 1 ? "; ending the other rank"
                     : "; ending the other " + std::to_string(others) + " ranks";
}

void job::signal_all(int signal) const {
  for (const rank_state& each : ranks_) {
    if (each.alive) {
      signal_rank(each.pid, signal);
    }
  }
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
        signal_all(signal);
        break;
      case SIGTSTP:
        stop_and_continue();
        break;
      default:
        on_interrupt(signal);
    }
  }
  if (child) {
    reap();
  }
}

void job::on_interrupt(int signal) {
  ++interrupts_;
  if (interrupts_ > 1) {
    signal_all(SIGKILL);
    return;
  }
  if (!ending_) {
    exit_code_ = 128 + signal;
    say("interrupted by " + signal_name(signal) + "; the ranks have " +
        std::to_string(static_cast<int>(interrupt_grace_s)) +
        " s to end, a second signal ends them at once");
    end_others(signal, interrupt_grace_s);
  }
}

void job::stop_and_continue() {
  signal_all(SIGSTOP);
  // Here the launcher itself stops, until the shell continues it.
  ::raise(SIGSTOP);
  signal_all(SIGCONT);
}

void job::read_socket(int rank) {
  const int number = ranks_[static_cast<std::size_t>(rank)].socket.get();
  std::array<char, 16'384> bytes;
  while (true) {
    const ssize_t got = ::recv(number, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      pmi_.receive(rank, {bytes.data(), static_cast<std::size_t>(got)});
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      loop_.forget(number);
    }
    if (got == 0 || errno != EINTR) {
      break;
    }
  }
  check_waiting();
}

void job::reap() {
  std::vector<exit_event> exits;
  while (true) {
    siginfo_t info{};
    // The zombie is kept at first: while it exists its pid names no other process group.
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
      break;
    }
    const pid_t pid = info.si_pid;
    const auto found = std::find_if(ranks_.begin(), ranks_.end(), [pid](const rank_state& each) {
      return each.alive && each.pid == pid;
    });
    if (found != ranks_.end()) {
      const int rank = static_cast<int>(found - ranks_.begin());
      read_socket(rank);
      ::kill(-pid, SIGKILL);  // what it left running; the rank itself is a zombie
      reaper_.pid_of(rank).store(0, std::memory_order_release);
      found->alive = false;
      pmi_.leave(rank);
      --alive_;
      const bool by_signal = info.si_code != CLD_EXITED;
      // Those that this launcher kills need no reason. A shell hands on what its program got.
      const bool killed = !ending_ && info.si_status == (by_signal ? SIGKILL : 128 + SIGKILL);
      exits.push_back({rank, by_signal ? 128 + info.si_status : info.si_status,
                       by_signal ? info.si_status : 0, info.si_code == CLD_DUMPED,
                       killed && memory_kills_.rose()});
    }
    ::waitpid(pid, nullptr, 0);
  }
  judge(exits);
}

std::string job::cause_of(const exit_event& exit) const {
  const std::string memory =
      exit.no_memory ? "; most likely the kernel killed it because memory ran out (its count of "
                       "such kills rose): use less memory per rank, or fewer ranks"
                     : "";
  if (exit.signal != 0) {
    return "was killed by " + signal_name(exit.signal) +
           (exit.core_dumped ? ", which left a core file" : "") + memory;
  }
  if (exit.code != 0) {
    return "exited with code " + std::to_string(exit.code) + memory;
  }
  if (pmi_.initialised(exit.rank) && !pmi_.finalized(exit.rank)) {
    return "exited with code 0 but without MPI_Finalize";
  }
  return "";
}

void job::judge(const std::vector<exit_event>& exits) {
  if (options_.verbose) {
    for (const exit_event& each : exits) {
      const std::string cause = cause_of(each);
      say(name_of(each.rank) + " " + (cause.empty() ? "ended well" : cause));
    }
  }
  if (ending_) {
    return;
  }
  // Of failures seen at the same moment a crash is more likely the root than an exit code.
  const exit_event* root = nullptr;
  for (const exit_event& each : exits) {
    if (!cause_of(each).empty() && (root == nullptr || (root->signal == 0 && each.signal != 0))) {
      root = &each;
    }
  }
  if (root != nullptr) {
    fail(root->code == 0 ? 1 : root->code, root->rank, name_of(root->rank) + " " + cause_of(*root));
  }
  check_waiting();
}

void job::check_waiting() {
  // A rank that never called MPI_Init is also missing where the others first meet.
  const pmi_server::missing_start missing = pmi_.left_before_start();
  if (missing.who >= 0 && !ending_) {
    fail(1, missing.who,
         name_of(missing.who) + " exited with code 0 without having called MPI_Init, but rank " +
             std::to_string(missing.waiting) +
             " has called it and would wait for ever; all ranks of a job must be programs of the "
             "same MPI, and each must call MPI_Init");
  }
  const int rank = pmi_.missed_in_barrier();
  if (rank >= 0 && !ending_) {
    fail(1, rank, name_of(rank) + " exited with code 0 while others wait for it");
  }
}

void job::on_abort(int rank, int code, const std::string& why) {
  if (!ending_) {
    fail(as_exit_code(code), rank,
         name_of(rank) + " aborted the job with code " + std::to_string(code) +
             (why.empty() ? "" : ": " + why));
  }
}

void job::fail(int code, int rank, const std::string& text) {
  if (ending_) {
    return;
  }
  exit_code_ = time_told_ ? exit_code_ : code;
  say(text + the_others(rank));
  end_others(SIGTERM, failure_grace_s);
}

void job::end_others(int first_signal, double grace_s) {
  ending_ = true;
  kill_at_ns_ = after(grace_s);
  signal_all(first_signal);
  signal_all(SIGCONT);  // a stopped rank would not see it
}

void job::check_deadlines() {
  const std::int64_t now = now_ns();
  if (time_is_up_ns_ != 0 && now >= time_is_up_ns_ && !ending_ && alive_ > 0 && !time_told_) {
    std::string who;
    std::string absent;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].alive) {
        who += (who.empty() ? "" : ", ") + std::to_string(rank);
      }
      if (pmi_.not_started(static_cast<int>(rank))) {
        absent += (absent.empty() ? "" : ", ") + std::to_string(rank);
      }
    }
    exit_code_ = 124;
    say("the time is up (--timeout); still running on " + host_ + ": rank " + who +
        (absent.empty() ? "" : "; not yet in MPI_Init, as others are: rank " + absent));
    // Ranks that wait say at this moment what for.
    time_told_ = true;
    time_is_up_ns_ = after(report_grace_s);
  } else if (time_told_ && now >= time_is_up_ns_ && !ending_) {
    end_others(SIGTERM, failure_grace_s);
  }
  if (kill_at_ns_ != 0 && now >= kill_at_ns_) {
    signal_all(SIGKILL);
    kill_at_ns_ = now + 1'000'000'000;  // and once more for what was started meanwhile
  }
}

int job::wait_ms() const {
  std::int64_t first = 0;
  if (time_is_up_ns_ != 0 && !ending_) {
    first = time_is_up_ns_;
  }
  if (kill_at_ns_ != 0) {
    first = kill_at_ns_;
  }
  if (first == 0) {
    return -1;
  }
  const std::int64_t left_ms = (first - now_ns()) / 1'000'000 + 1;
  return static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 60'000));
}

}  // namespace sinew::tool
