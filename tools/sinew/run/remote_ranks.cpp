#include "sinew/run/remote_ranks.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/run/local_ranks.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t beat_ns = second_ns;
// A login may take long where home directories are far; what has taken so long has failed.
constexpr std::int64_t slow_start_ns = 5 * second_ns;
constexpr std::int64_t longest_start_ns = 30 * second_ns;
constexpr std::int64_t finish_ns = 2 * second_ns;
constexpr std::int64_t input_window = 256 * 1024;

}  // namespace

remote_ranks::remote_ranks(const run_options& options, const job_plan& plan,
                           std::vector<std::string> words, event_loop& loop, rank_events events,
                           host_events calls)
    : options_(options),
      plan_(plan),
      words_(std::move(words)),
      loop_(loop),
      events_(std::move(events)),
      calls_(std::move(calls)),
      secret_(make_secret()),
      reaper_(static_cast<int>(plan.hosts.names.size())) {
  SINEW_EXPECT(!plan.hosts.empty());
  (void)raise_file_limit();
  for (const std::string& name : plan.hosts.names) {
    auto each = std::make_unique<host>();
    each->node = static_cast<int>(hosts_.size());
    each->name = name;
    hosts_.push_back(std::move(each));
  }
}

void remote_ranks::answer(int rank, const std::string& bytes) {
  if (const auto& link = host_of(rank).link; link != nullptr) {
    link->send(frame_kind::answer, rank, bytes);
  }
}

void remote_ranks::signal_all(int signal) {
  for (const auto& each : hosts_) {
    if (each->link != nullptr) {
      each->link->send(frame_kind::signal, 0, packer().number(signal).bytes());
    }
  }
}

bool remote_ranks::is_rank_of(const host& from, int rank) const {
  return rank >= 0 && static_cast<std::size_t>(rank) < plan_.ranks.size() &&
         plan_.hosts.node(rank) == from.node;
}

void remote_ranks::take(host& from, const frame& got) {
  unpacker fields(got.bytes);
  switch (got.kind) {
    case frame_kind::beat:
      return;
    case frame_kind::ready:
      from.at = stage::ready;
      return go_if_all_ready();
    case frame_kind::refused: {
      const auto code = static_cast<int>(fields.number());
      return lose(from, code, from.name + ": " + fields.text());
    }
    case frame_kind::remark:
      return events_.remark(got.bytes);
    case frame_kind::ended:
      return take_exits(from, got);
    default:
      break;
  }
  if (!is_rank_of(from, got.rank)) {
    return lose(from, 1, "the daemon on " + from.name + " speaks of a rank that is not there");
  }
  switch (got.kind) {
    case frame_kind::started:
      return events_.started(got.rank, static_cast<pid_t>(fields.number()));
    case frame_kind::not_started: {
      const auto code = static_cast<int>(fields.number());
      return events_.not_started(got.rank, code, "on " + from.name + ": " + fields.text());
    }
    case frame_kind::said:
      return events_.said(got.rank, got.bytes);
    case frame_kind::output:
    case frame_kind::error_output:
      from.owed += static_cast<std::int64_t>(got.bytes.size());
      return calls_.output(got.rank, got.kind == frame_kind::output ? 1 : 2, got.bytes);
    case frame_kind::input_taken:
    case frame_kind::input_closed:
      for (const auto& each : inputs_) {
        if (each->rank != got.rank || !each->pipe) {
          continue;
        }
        each->in_flight -= fields.number();
        if (got.kind == frame_kind::input_closed) {
          loop_.forget(each->pipe.get());
          each->pipe.reset();
          each->ended = true;
        }
        pump_when_open(*each);
      }
      return;
    default:
      lose(from, 1, "the daemon on " + from.name + " sent what only launchers send");
  }
}

void remote_ranks::take_exits(const host& from, const frame& got) {
  std::vector<rank_exit> exits;
  unpacker fields(got.bytes);
  for (std::int64_t left = fields.number(); left > 0 && exits.size() < plan_.ranks.size(); --left) {
    rank_exit each;
    each.rank = static_cast<int>(fields.number());
    each.code = static_cast<int>(fields.number());
    each.signal = static_cast<int>(fields.number());
    each.core_dumped = fields.number() != 0;
    each.no_memory = fields.number() != 0;
    if (is_rank_of(from, each.rank)) {
      exits.push_back(each);
    }
  }
  events_.ended(exits);
}

void remote_ranks::go_if_all_ready() {
  if (finish_by_ns_ != 0 || !std::all_of(hosts_.begin(), hosts_.end(), [](const auto& each) {
        return each->at == stage::ready;
      })) {
    return;
  }
  const std::int64_t left =
      report_at_ns_ == 0 ? 0 : std::max<std::int64_t>(report_at_ns_ - now_ns(), 1);
  for (const auto& each : hosts_) {
    each->at = stage::running;
    each->link->send(frame_kind::go, 0, packer().number(left).bytes());
  }
  for (const auto& each : inputs_) {
    pump_when_open(*each);
  }
}

void remote_ranks::lose(host& which, int code, const std::string& why) {
  if (which.at == stage::gone) {
    return;
  }
  which.at = stage::gone;
  if (which.link != nullptr) {
    which.link->close();
  }
  which.to_agent.reset();
  if (finish_by_ns_ == 0) {
    calls_.lost(which.node, code, why);
  }
}

void remote_ranks::on_child() {
  for (const auto& each : hosts_) {
    siginfo_t info{};
    if (each->agent <= 0 || each->agent_ended ||
        ::waitid(P_PID, static_cast<id_t>(each->agent), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0) {
      continue;
    }
    reaper_.pid_of(each->node).store(0, std::memory_order_release);
    int status = 0;
    ::waitpid(each->agent, &status, 0);
    agent_has_ended(*each, status);
  }
}

void remote_ranks::finish() {
  if (finish_by_ns_ != 0) {
    return;
  }
  finish_by_ns_ = now_ns() + finish_ns;
  for (const auto& each : hosts_) {
    if (each->link != nullptr && each->link->open()) {
      each->link->send(frame_kind::finish);
    } else if (each->agent > 0 && !each->agent_ended) {
      signal_rank(each->agent, SIGKILL);
    }
    if (each->link == nullptr) {
      lose(*each, 0, "");
    }
  }
}

bool remote_ranks::done() const {
  return finish_by_ns_ != 0 && std::all_of(hosts_.begin(), hosts_.end(), [](const auto& each) {
           return each->at == stage::gone && (each->agent <= 0 || each->agent_ended);
         });
}

void remote_ranks::watch_times(std::int64_t now) {
  const auto limit_ns = static_cast<std::int64_t>(options_.host_timeout_s * 1e9);
  for (const auto& each : hosts_) {
    if (each->at == stage::starting && each->began_ns != 0) {
      if (now - each->began_ns > slow_start_ns && !each->told_slow) {
        each->told_slow = true;
        events_.remark("the host " + each->name + " has not answered yet; it has " +
                       std::to_string((longest_start_ns - slow_start_ns) / second_ns) + " s more");
      }
      if (now - each->began_ns > longest_start_ns) {
        lose(*each, 1,
             "the host " + each->name + " does not answer: its agent runs, but no daemon came in " +
                 std::to_string(longest_start_ns / second_ns) +
                 " s; check what a login there does (`" + agent_words(*each).front() + " " +
                 each->name + " true`)");
      }
    } else if (each->link != nullptr && each->link->open() && limit_ns != 0 &&
               now - each->link->heard_ns() > limit_ns) {
      lose(*each, 1,
           "the host " + each->name + " is lost: nothing was heard of it for " +
               std::to_string(limit_ns / second_ns) +
               " s (it is down, or the network to it is cut); its ranks end by themselves. A slow "
               "network needs a larger --host-timeout");
    }
  }
}

int remote_ranks::look_after() {
  const std::int64_t now = now_ns();
  watch_times(now);
  std::erase_if(callers_, [this, now](const caller& each) {
    const bool late = now > each.until_ns;
    if (late) {
      loop_.forget(each.socket.get());
    }
    return late;
  });
  const bool beat = now >= next_beat_ns_;
  const bool full = calls_.full();
  for (const auto& each : hosts_) {
    if (each->link == nullptr || !each->link->open()) {
      continue;
    }
    if (each->owed > 0 && !full) {
      each->link->send(frame_kind::output_taken, 0, packer().number(each->owed).bytes());
      each->owed = 0;
    }
    if (beat) {
      each->link->send(frame_kind::beat);
    }
  }
  next_beat_ns_ = beat ? now + beat_ns : next_beat_ns_;
  if (finish_by_ns_ != 0 && now > finish_by_ns_) {
    // Whoever has not ended by now is beyond our reach; its own silence ends it.
    for (const auto& each : hosts_) {
      lose(*each, 0, "");
      each->agent_ended = true;  // the reaper ends it
    }
  }
  return static_cast<int>(std::clamp<std::int64_t>((next_beat_ns_ - now) / 1'000'000 + 1, 1, 500));
}

void remote_ranks::read_input(int rank, boot::descriptor pipe) {
  SINEW_EXPECT(rank >= 0 && static_cast<std::size_t>(rank) < plan_.ranks.size());
  if (pipe) {
    ::fcntl(pipe.get(), F_SETFL, O_NONBLOCK);
  }
  auto each = std::make_unique<input>();
  each->rank = rank;
  each->pipe = std::move(pipe);
  inputs_.push_back(std::move(each));
}

void remote_ranks::pump_when_open(input& from) {
  const host& to = host_of(from.rank);
  if (to.at == stage::running && !from.watched && from.in_flight < input_window && from.pipe) {
    from.watched = loop_.watch_input(from.pipe.get(), [this, &from] { pump(from); });
  } else if (to.at == stage::running && !from.pipe && !from.ended) {
    from.ended = true;  // there is no input at all
    to.link->send(frame_kind::input, from.rank);
  }
}

void remote_ranks::pump(input& from) {
  std::array<char, 65'536> bytes;
  const ssize_t got = ::read(from.pipe.get(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  const std::size_t size = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  from.in_flight += static_cast<std::int64_t>(size);
  if (const auto& link = host_of(from.rank).link; link != nullptr) {
    link->send(frame_kind::input, from.rank, {bytes.data(), size});  // no bytes: the end
  }
  if (got <= 0 || from.in_flight >= input_window) {
    loop_.forget(from.pipe.get());
    from.watched = false;
  }
  if (got <= 0) {
    from.pipe.reset();
    from.ended = true;
  }
}

void remote_ranks::close_output(int stream) {
  for (const auto& each : hosts_) {
    if (each->link != nullptr) {
      each->link->send(frame_kind::output_closed, 0, packer().number(stream).bytes());
    }
  }
}

void remote_ranks::forgive_silence() {
  for (const auto& each : hosts_) {
    if (each->link != nullptr) {
      each->link->forgive_silence();
    }
  }
}

}  // namespace sinew::tool
