// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/remote_ranks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/run/host_tree.hpp"
#include "sinew/run/local_ranks.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t beat_ns = second_ns;
constexpr std::int64_t finish_ns = 2 * second_ns;
constexpr std::int64_t input_window = 256 * 1024;
/// In a row, when a host is ready; later one with each beat.
constexpr int clock_questions = 8;

std::vector<bool> which_are_here(const std::vector<std::string>& names) {
  std::vector<bool> here;
  for (const std::string& each : names) {
    here.push_back(is_this_machine(each));
  }
  return here;
}

std::string current_directory() {
  std::array<char, PATH_MAX> path{};
  SINEW_CHECK(::getcwd(path.data(), path.size()) != nullptr, "the current directory has no name",
              std::strerror(errno), "start from a directory that exists");
  return path.data();
}

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
      parents_(host_tree(which_are_here(plan.hosts.names), options.tree_width)),
      starter_(loop, {options.agent, options.through_agent}, plan.hosts.names,
               children_of(parents_, launcher_node),
               {[this](int node, daemon_line line) {
                  attach(*hosts_[static_cast<std::size_t>(node)], std::move(line));
                },
                [this](int node, int code, const std::string& why) {
                  lose(*hosts_[static_cast<std::size_t>(node)], code, why);
                },
                [this](const std::string& text) { events_.remark(text); }}) {
  SINEW_EXPECT(!plan.hosts.empty());
  (void)raise_file_limit();
  for (const std::string& name : plan.hosts.names) {
    auto each = std::make_unique<host>();
    each->node = static_cast<int>(hosts_.size());
    each->name = name;
    hosts_.push_back(std::move(each));
  }
}

void remote_ranks::start(const sigset_t& mask, std::int64_t report_at_ns) {
  report_at_ns_ = report_at_ns;
  for (auto& [rank, pipe] : calls_.inputs()) {
    read_input(rank, std::move(pipe));
  }
  starter_.start(mask);
}

host_orders remote_ranks::orders_for(int node) const {
  host_orders orders{plan_.job,
                     node,
                     current_directory(),
                     words_,
                     clean_environment(),
                     {},
                     plan_.hosts,
                     static_cast<std::int64_t>(options_.host_timeout_s * 1e3),
                     parents_,
                     options_.agent};
  for (const application& each : options_.applications) {
    orders.ranks.push_back(each.ranks);
  }
  return orders;
}

void remote_ranks::attach(host& to, daemon_line line) {
  SINEW_EXPECT(to.at == stage::starting && to.link == nullptr && line.in);
  to.at = stage::preparing;
  to.link = std::make_unique<frame_link>(
      loop_, std::move(line), frame_link::side::launcher,
      frame_link::events{
          [this, &to](const frame& got) { take(to, got); },
          [this, &to](const link_loss& how) { lose(to, 1, daemon_is_lost(to.name, how)); }});
  to.link->send(frame_kind::set_up, 0, pack(orders_for(to.node)));
}

remote_ranks::host& remote_ranks::way_to(int node) const {
  while (parents_[static_cast<std::size_t>(node)] != launcher_node) {
    node = parents_[static_cast<std::size_t>(node)];
  }
  return *hosts_[static_cast<std::size_t>(node)];
}

void remote_ranks::send(const host& to, frame_kind kind, int rank, std::string_view bytes) {
  if (const auto& link = way_to(to.node).link; link != nullptr) {
    link->send(kind, rank, bytes);
  }
}

// Daemons pass it on to those below them.
void remote_ranks::send_all(frame_kind kind, std::string_view bytes, int rank) {
  for (const auto& each : hosts_) {
    if (each->link != nullptr) {
      each->link->send(kind, rank, bytes);
    }
  }
}

void remote_ranks::tell_dead(int rank) { send_all(frame_kind::dead, {}, rank); }

void remote_ranks::tell_vote(int rank, const cast_vote& vote) {
  send_all(frame_kind::voted, pack(vote), rank);
}

void remote_ranks::answer(int rank, const std::string& bytes) {
  send(host_of(rank), frame_kind::answer, rank, bytes);
}

void remote_ranks::signal_all(int signal, const std::vector<int>& spared) {
  send_all(frame_kind::signal, packer().number(signal).numbers(spared).bytes());
}

bool remote_ranks::is_rank_by(const host& by, int rank) const {
  return rank >= 0 && static_cast<std::size_t>(rank) < plan_.ranks.size() &&
         &way_to(plan_.hosts.node(rank)) == &by;
}

void remote_ranks::take(host& by, const frame& got) {
  unpacker fields(got.bytes);
  switch (got.kind) {
    case frame_kind::beat:
      return;
    case frame_kind::remark:
      return events_.remark(got.bytes);
    case frame_kind::ended:
      return take_exits(by, got);
    case frame_kind::ready:
    case frame_kind::refused:
    case frame_kind::clock:
    case frame_kind::lost: {
      const auto node = static_cast<std::size_t>(got.rank);
      if (node >= hosts_.size() || &way_to(got.rank) != &by) {
        break;
      }
      host& of = *hosts_[node];
      if (got.kind == frame_kind::ready) {
        of.at = stage::ready;
        ask_clock(of);
        return go_if_all_ready();
      }
      if (got.kind == frame_kind::clock) {
        return take_clock(of, fields.number());
      }
      const auto code = static_cast<int>(fields.number());
      const std::string why = fields.text();
      return lose(of, code, got.kind == frame_kind::lost ? why : of.name + ": " + why);
    }
    default:
      if (is_rank_by(by, got.rank) && is_of_rank(got.kind)) {
        return take_of_rank(got);
      }
  }
  lose(by, 1, "the daemon on " + by.name + " sent what makes no sense");
}

void remote_ranks::take_of_rank(const frame& got) {
  unpacker fields(got.bytes);
  host& from = host_of(got.rank);
  switch (got.kind) {
    case frame_kind::started:
      return events_.started(got.rank, static_cast<pid_t>(fields.number()));
    case frame_kind::not_started: {
      const auto code = static_cast<int>(fields.number());
      return events_.not_started(got.rank, code, "on " + from.name + ": " + fields.text());
    }
    case frame_kind::said:
      return events_.said(got.rank, got.bytes);
    case frame_kind::idle:
      return events_.idle(got.rank, fields.number() != 0);
    case frame_kind::stands:
      return events_.stands(got.rank, got.bytes);
    case frame_kind::other_mpi:
      return events_.other_mpi(got.rank, got.bytes);
    case frame_kind::output:
    case frame_kind::error_output:
      from.owed += static_cast<std::int64_t>(got.bytes.size());
      return calls_.output(got.rank, got.kind == frame_kind::output ? 1 : 2, got.bytes);
    default:
      break;
  }
  SINEW_ASSERT(got.kind == frame_kind::input_taken || got.kind == frame_kind::input_closed);
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
}

void remote_ranks::take_exits(const host& by, const frame& got) {
  std::vector<rank_exit> exits;
  unpacker fields(got.bytes);
  constexpr std::size_t bytes_each = 5 * sizeof(std::int64_t);
  for (std::size_t left = fields.count(bytes_each); left > 0; --left) {
    rank_exit each;
    each.rank = static_cast<int>(fields.number());
    each.code = static_cast<int>(fields.number());
    each.signal = static_cast<int>(fields.number());
    each.core_dumped = fields.number() != 0;
    each.what = static_cast<exhausted>(fields.number() & 3);
    if (is_rank_by(by, each.rank)) {
      exits.push_back(each);
    }
  }
  events_.ended(exits);
}

void remote_ranks::ask_clock(host& of) {
  if (!options_.trace.empty() && of.clock_asked_ns == 0) {
    of.clock_asked_ns = now_ns();
    send(of, frame_kind::ask_clock, of.node, {});
  }
}

// Its clock was read somewhere between our question and now; the shorter that was, the better.
void remote_ranks::take_clock(host& of, std::int64_t theirs) {
  if (of.clock_asked_ns == 0) {
    return;  // nobody has asked
  }
  const std::int64_t way_ns = now_ns() - of.clock_asked_ns;
  if (way_ns < of.clock_way_ns) {
    of.clock_way_ns = way_ns;
    // Unsigned, since a daemon may send any number.
    of.clock_ahead_ns =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(theirs) -
                                  static_cast<std::uint64_t>(of.clock_asked_ns + way_ns / 2));
  }
  of.clock_asked_ns = 0;
  if (++of.clock_answers < clock_questions) {
    ask_clock(of);
  }
}

std::int64_t remote_ranks::clock_ahead_ns(int rank) const { return host_of(rank).clock_ahead_ns; }

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
  }
  send_all(frame_kind::go, packer().number(left).bytes());
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
  if (finish_by_ns_ == 0) {
    calls_.lost(which.node, code, why);
  }
  lose_below(which);
}

// Nobody is left who could speak of them; they end by themselves.
void remote_ranks::lose_below(const host& which) {
  for (const auto& each : hosts_) {
    if (each->at != stage::gone && parents_[static_cast<std::size_t>(each->node)] == which.node) {
      lose(*each, 1, "the host " + each->name + " is lost with " + which.name + " above it");
    }
  }
}

void remote_ranks::on_child(const siginfo_t& child) { starter_.on_child(child); }

void remote_ranks::finish() {
  if (finish_by_ns_ != 0) {
    return;
  }
  finish_by_ns_ = now_ns() + finish_ns;
  send_all(frame_kind::finish);
  starter_.give_up();
  for (const auto& each : hosts_) {
    if (const auto& link = way_to(each->node).link; link == nullptr || !link->open()) {
      lose(*each, 0, "");
    }
  }
}

bool remote_ranks::done() const {
  return finish_by_ns_ != 0 && starter_.agents_have_ended() &&
         std::all_of(hosts_.begin(), hosts_.end(),
                     [](const auto& each) { return each->at == stage::gone; });
}

void remote_ranks::watch_times(std::int64_t now) {
  const auto limit_ns = static_cast<std::int64_t>(options_.host_timeout_s * 1e9);
  starter_.look_after(now);
  for (const auto& each : hosts_) {
    if (each->link != nullptr && each->link->open() && limit_ns != 0 &&
        now - each->link->heard_ns() > limit_ns) {
      lose(*each, 1, nothing_is_heard(each->name, limit_ns));
    }
  }
}

int remote_ranks::look_after() {
  const std::int64_t now = now_ns();
  watch_times(now);
  const bool beat = now >= next_beat_ns_;
  const bool full = calls_.full();
  for (const auto& each : hosts_) {
    if (each->owed > 0 && !full) {
      send(*each, frame_kind::output_taken, each->node, packer().number(each->owed).bytes());
      each->owed = 0;
    }
  }
  if (beat) {
    send_all(frame_kind::beat);
    for (const auto& each : hosts_) {
      if (each->at == stage::running) {
        ask_clock(*each);
      }
    }
  }
  next_beat_ns_ = beat ? now + beat_ns : next_beat_ns_;
  if (finish_by_ns_ != 0 && now > finish_by_ns_) {
    // Whoever has not ended by now is beyond our reach; its own silence ends it.
    for (const auto& each : hosts_) {
      lose(*each, 0, "");
    }
    starter_.leave_agents();
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
    send(to, frame_kind::input, from.rank, {});
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
  send(host_of(from.rank), frame_kind::input, from.rank, {bytes.data(), size});  // none: the end
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
  send_all(frame_kind::output_closed, packer().number(stream).bytes());
}

std::int64_t remote_ranks::heard_ns(int rank) const {
  const auto& link = way_to(plan_.hosts.node(rank)).link;
  return link != nullptr ? link->heard_ns() : 0;
}

void remote_ranks::forgive_silence() {
  for (const auto& each : hosts_) {
    if (each->link != nullptr) {
      each->link->forgive_silence();
    }
  }
}

}  // namespace sinew::tool
