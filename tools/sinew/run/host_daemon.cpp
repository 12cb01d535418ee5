// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/host_daemon.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/run/host_tree.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t own_beat_ns = second_ns;
constexpr std::array daemon_signals = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};

void take_environment(const std::vector<std::string>& environment) {
  ::clearenv();
  for (const std::string& each : environment) {
    const std::size_t equals = each.find('=');
    if (equals != 0 && equals != std::string::npos) {
      ::setenv(each.substr(0, equals).c_str(), each.c_str() + equals + 1, 1);
    }
  }
}

}  // namespace

host_daemon::host_daemon(daemon_line line)
    : link_(loop_, std::move(line), frame_link::side::daemon,
            {[this](const frame& got) { take(got); },
             [this](const link_loss& how) { lost_launcher(how); }}) {}

/// After `finish` the launcher need not wait for this daemon, which waits for those below it.
void host_daemon::lost_launcher(const link_loss& how) {
  finishing_ ? stop(0, "")
             : stop(1, (how.by_other_side ? "the launcher has gone: "
                                          : "the connection with the launcher is given up: ") +
                           how.why);
}

void host_daemon::stop(int code, const std::string& why) {
  if (!exit_code_) {
    exit_code_ = code;
    if (!why.empty()) {
      std::fprintf(stderr, "sinew daemon: %s\n", as_sentence(why).c_str());
    }
  }
}

bool host_daemon::silent() const {
  return host_timeout_ns_ != 0 && !patient_ && now_ns() - link_.heard_ns() > host_timeout_ns_;
}

int host_daemon::run() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  signals_.emplace(daemon_signals);
  loop_.watch_input(signals_->descriptor(), [this] { read_signals(); });
  std::int64_t next_beat_ns = now_ns();
  while (!exit_code_ && !finishing_) {
    const std::int64_t now = now_ns();
    if (now >= next_beat_ns) {
      link_.send(frame_kind::beat);
      if (children_ != nullptr) {
        children_->look_after(now);
      }
      next_beat_ns = now + own_beat_ns;
    }
    const int beat_ms = static_cast<int>((next_beat_ns - now) / 1'000'000 + 1);
    const int look_ms = ranks_ != nullptr ? ranks_->look_after() : -1;
    loop_.run_once(look_ms < 0 ? beat_ms : std::min(beat_ms, look_ms));
    if (silent()) {
      stop(1, "nothing is heard of the launcher any more");
    }
  }
  if (finishing_) {
    drain();
  }
  return exit_code_.value_or(0);
}

void host_daemon::read_signals() {
  for (const int signal : signals_->take()) {
    if (signal != SIGCHLD) {
      stop(128 + signal, "ended by " + signal_name(signal));
      continue;
    }
    reap_children([this](const siginfo_t& each) {
      if (ranks_ != nullptr) {
        ranks_->on_child(each);
      }
      if (children_ != nullptr) {
        children_->on_child(each);
      }
    });
    if (ranks_ != nullptr) {
      ranks_->tell_exits();
    }
  }
}

void host_daemon::take(const frame& got) {
  patient_ = false;
  unpacker fields(got.bytes);
  const bool ours = std::binary_search(plan_.local.begin(), plan_.local.end(), got.rank);
  const bool below = !ours && children_ != nullptr;
  switch (got.kind) {
    case frame_kind::beat:
      return;
    case frame_kind::set_up:
      return set_up(got);
    case frame_kind::answer:
      return below                       ? children_->pass_on(got)
             : ranks_ != nullptr && ours ? ranks_->answer(got.rank, got.bytes)
                                         : void();
    case frame_kind::input:
      return below ? children_->pass_on(got) : add_input(got.rank, got.bytes);
    case frame_kind::output_taken:
      if (got.rank != node_) {
        return children_ != nullptr ? children_->pass_on(got) : void();
      }
      unread_ -= fields.number();
      return balance();
    case frame_kind::ask_clock:
      if (got.rank != node_) {
        return children_ != nullptr ? children_->pass_on(got) : void();
      }
      return link_.send(frame_kind::clock, node_, packer().number(now_ns()).bytes());
    case frame_kind::go:
    case frame_kind::signal:
    case frame_kind::output_closed:
    case frame_kind::ask:
    case frame_kind::dead:
    case frame_kind::voted:
    case frame_kind::finish:
      if (children_ != nullptr) {
        children_->pass_to_all(got);
      }
      return take_for_all(got);
    default:
      stop(1, "the launcher sent what only daemons send");
  }
}

void host_daemon::take_for_all(const frame& got) {
  unpacker fields(got.bytes);
  if (got.kind == frame_kind::finish) {
    finishing_ = true;
    return;
  }
  const std::int64_t number = fields.number();
  switch (got.kind) {
    case frame_kind::dead:
    case frame_kind::voted:
      return note_fate(got);
    case frame_kind::ask:
      return ranks_ != nullptr ? ranks_->ask(static_cast<int>(number),
                                             fields.number() == 0 ? wanted_of_rank::stacks
                                                                  : wanted_of_rank::numbers)
                               : void();
    case frame_kind::go:
      return go(number);
    case frame_kind::output_closed:
      return close_output(static_cast<int>(number));
    default:
      break;
  }
  SINEW_ASSERT(got.kind == frame_kind::signal);
  patient_ = number == SIGSTOP;
  if (ranks_ != nullptr && number > 0) {
    ranks_->signal_all(static_cast<int>(number), fields.numbers());
  }
}

// What the ranks here see in the memory that they share. A rank dies once.
void host_daemon::note_fate(const frame& got) {
  const auto ranks = static_cast<int>(plan_.ranks.size());
  const job_rank who{got.rank};
  const auto vote = got.kind == frame_kind::voted ? unpack_vote(got.bytes) : std::nullopt;
  boot::survival* const fates = ranks_ != nullptr ? ranks_->survival() : nullptr;
  if (fates == nullptr || !who.below(ranks) || (got.kind == frame_kind::voted && !vote) ||
      fates->is_dead(who, fates->deaths())) {
    return stop(1, "the launcher tells of a rank what makes no sense");
  }
  if (!vote) {
    fates->mark_dead(who);
  } else {
    fates->note(who, *vote);
  }
}

void host_daemon::set_up(const frame& got) {
  const auto refuse = [this](int code, const std::string& why) {
    link_.send(frame_kind::refused, node_, packer().number(code).text(why).bytes());
  };
  const auto orders = unpack_orders(got.bytes);
  if (!orders || ranks_ != nullptr) {
    return refuse(1, "the launcher's orders make no sense");
  }
  node_ = orders->node;
  host_timeout_ns_ = orders->host_timeout_ms * 1'000'000;
  if (::chdir(orders->directory.c_str()) != 0) {
    return refuse(126, "the directory " + orders->directory + " cannot be entered: " +
                           std::strerror(errno) + "; start from one that all hosts have");
  }
  try {
    take_environment(orders->environment);
    read_options(*orders);
    start_children(*orders);
    prepare(*orders);
  } catch (const usage_failure& failure) {
    return refuse(2, failure.what());
  } catch (const error& failure) {
    return refuse(1, failure.what());
  }
  if (plan_.exit_code != 0) {
    return refuse(plan_.exit_code, plan_.complaint);
  }
  for (const std::string& each : plan_.remarks) {
    if (orders->node == 0) {  // the others would say the same
      link_.send(frame_kind::remark, 0, each);
    }
  }
  link_.send(frame_kind::ready, node_);
}

void host_daemon::read_options(const host_orders& orders) {
  options_ = parse_run(std::vector<std::string_view>(orders.words.begin(), orders.words.end()));
  SINEW_CHECK(orders.ranks.size() == options_.applications.size(), "the programs were misread",
              "the launcher has another number of them", "");
  for (std::size_t i = 0; i < orders.ranks.size(); ++i) {
    options_.applications[i].ranks = orders.ranks[i];
  }
  SINEW_CHECK(orders.hosts.node_of.size() == static_cast<std::size_t>(options_.ranks()),
              "the ranks were misread", "the launcher has another number of them", "");
}

void host_daemon::start_children(const host_orders& orders) {
  if (!children_of(orders.parents, orders.node).empty()) {
    children_ = std::make_unique<daemon_children>(
        loop_, orders, options_.through_agent,
        [this](frame_kind kind, int rank, std::string_view bytes) {
          link_.send(kind, rank, bytes);
        });
    children_->start(signals_->mask_before());
  }
}

void host_daemon::prepare(const host_orders& orders) {
  plan_ = plan_job(options_, orders.hosts, orders.node);
  plan_.job = orders.job;
  rank_events events{
      [this](int rank, pid_t pid) {
        link_.send(frame_kind::started, rank, packer().number(pid).bytes());
      },
      [this](int rank, int code, const std::string& why) {
        link_.send(frame_kind::not_started, rank, packer().number(code).text(why).bytes());
      },
      [this](int rank, std::string_view bytes) { link_.send(frame_kind::said, rank, bytes); },
      [this](const std::vector<rank_exit>& exits) { tell_exits(exits); },
      [this](const std::string& text) { link_.send(frame_kind::remark, 0, text); },
      [this](int rank, std::string_view stacks) { link_.send(frame_kind::stands, rank, stacks); },
      [this](int rank, bool idle) {
        link_.send(frame_kind::idle, rank, packer().number(idle ? 1 : 0).bytes());
      },
      [this](int rank, const std::string& path) { link_.send(frame_kind::other_mpi, rank, path); }};
  ranks_ = std::make_unique<local_ranks>(
      options_, plan_, loop_, std::move(events),
      [this](int rank, start_plan& start, std::vector<boot::descriptor>& held) {
        set_up_streams(rank, start, held);
      });
}

void host_daemon::go(std::int64_t report_in_ns) {
  SINEW_EXPECT(report_in_ns >= 0);
  if (ranks_ == nullptr) {
    return stop(1, "the launcher wants ranks to start before it has named them");
  }
  ranks_->start(signals_->mask_before(), report_in_ns == 0 ? 0 : now_ns() + report_in_ns);
}

void host_daemon::tell_exits(const std::vector<rank_exit>& exits) {
  packer to;
  to.number(static_cast<std::int64_t>(exits.size()));
  for (const rank_exit& each : exits) {
    read_all_of(each.rank);  // what it said last stands before our word of its end
    to.number(each.rank).number(each.code).number(each.signal);
    to.number(each.core_dumped ? 1 : 0).number(static_cast<std::int64_t>(each.what));
  }
  link_.send(frame_kind::ended, 0, to.bytes());
}

}  // namespace sinew::tool
