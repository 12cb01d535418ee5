// SPDX-License-Identifier: BSD-3-Clause
// Groups of one job or of several that meet at a port, or by a socket (MPI-5.0 sections 11.8 to
// 11.10).
#include "sinew/dynamic/leaders.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/dynamic/connections.hpp"
#include "sinew/dynamic/failure.hpp"

namespace sinew::dynamic {

namespace {

/// A caller that knows the port's secret says the rest within this time.
constexpr std::int64_t talk_ns = 10 * second_ns;

/// Ports that this rank has open.
struct port_table {
  std::mutex lock;
  std::map<std::string, std::shared_ptr<open_port>> open;
};
port_table& ports() {
  static auto& it = *new port_table;
  return it;
}

port_name name_of_port(const std::string& text) {
  const std::optional<port_name> name = port_name::parse(text);
  if (!name) {
    throw failure(error_kind::port, "\"" + text + "\" is no name of a port");
  }
  return *name;
}

bool is_own(core::runtime& rt, const port_name& name) {
  return name.job == core::name_of_job(rt) && name.owner == rt.rank().value();
}

bool understands(const greeting& own, const greeting& g) {
  return std::memcmp(g.magic, own.magic, sizeof g.magic) == 0 && g.build == own.build;
}

/// Nothing if it cannot be connected after all, and the next one is due.
std::optional<coll::leaders_link> answer(port_caller caller, leaders_way& way) {
  socket_talk talk(way.engine(), std::move(caller.socket), now_ns() + talk_ns);
  const greeting& theirs = caller.said;
  greeting own = own_greeting(way.engine().runtime());
  own.refused = understands(own, theirs) ? 0 : 1;
  char over = 0;
  if (!talk.send(&own, sizeof own) || own.refused != 0) {
    return std::nullopt;
  }
  const std::optional<core::resident> other = talk.exchange_residents(own, theirs);
  if (!other || !talk.receive(&over, 1)) {
    return std::nullopt;
  }
  return way.to(*other, tag_of_connection(theirs.rank, theirs.number), true);
}

/// Says who we are and hears who they are, at a port that has others to hear as well: who has been
/// hung up on without a word (the system has kept us from speaking for a second) calls again.
greeting greet(p2p::engine& engine, std::optional<socket_talk>& talk, const port_name& name,
               const greeting& own, std::int64_t deadline_ns) {
  greeting theirs;
  constexpr int most_calls = 5;
  for (int call = 1;; ++call) {
    boot::descriptor socket = call_port(engine.runtime(), name, deadline_ns);
    if (!socket && call == 1) {
      throw failure(error_kind::port,
                    "the port \"" + name.text() + "\" is not open: nobody listens there");
    }
    if (!socket || call > most_calls) {
      throw failure(error_kind::port, "the port has been closed, or its owner has ended");
    }
    talk.emplace(engine, std::move(socket), deadline_ns);
    if (talk->send(&own, sizeof own) && talk->receive(&theirs, sizeof theirs)) {
      return theirs;
    }
    if (talk->late()) {
      throw failure(error_kind::port,
                    "nobody has accepted at the port in time: no rank is in MPI_Comm_accept there "
                    "(set SINEW_MPI_CONNECT_TIMEOUT or the info key \"timeout\" to wait longer)");
    }
  }
}

}  // namespace

coll::leaders_link leaders_way::to(const core::resident& other, message_tag tag, bool first) {
  core::runtime& rt = job_.engine.runtime();
  if (other.job == core::name_of_job(rt)) {
    SINEW_ASSERT(other.rank.below(rt.reach()));
    job_.engine.meet(other.rank, other.tenant);
    return {job_.comm, comm_rank{other.rank.value()}, tag};
  }
  const job_rank number = job_.engine.outside().number_of(other);
  std::vector<job_rank> both = {rt.rank(), number};
  if (!first) {
    std::swap(both[0], both[1]);
  }
  meeting_.emplace(job_.engine, core::group(std::move(both)), tag);
  return {meeting_->comm(), comm_rank{first ? 1 : 0}, tag};
}

std::optional<coll::leaders_link> await_caller(open_port& port, const patience& until,
                                               leaders_way& way) {
  for (;;) {
    auto caller = port.wait_for_caller(until);
    if (!caller) {
      return std::nullopt;
    }
    if (auto link = answer(std::move(*caller), way)) {
      return link;
    }
  }
}

void expect_other_jobs(core::runtime& rt, error_kind otherwise) {
  if (rt.endpoint().bounds().one_job) {
    throw failure(otherwise,
                  "ranks of other jobs, and ranks that are spawned, are not reached by a simulated "
                  "network; run the program without sinew simulate");
  }
}

std::string open_port_of(core::runtime& rt) {
  expect_other_jobs(rt, error_kind::port);
  std::shared_ptr<open_port> made = open_port::open(rt, next_number());
  const std::string name = made->name().text();
  port_table& all = ports();
  const std::lock_guard held(all.lock);
  all.open.emplace(name, std::move(made));
  return name;
}

std::shared_ptr<open_port> own_port(core::runtime& rt, const std::string& text) {
  const port_name name = name_of_port(text);
  if (!is_own(rt, name)) {
    throw failure(error_kind::port, "the port was opened by rank " + std::to_string(name.owner) +
                                        " of " +
                                        (name.job == core::name_of_job(rt) ? "this" : "another") +
                                        " job, and is for it to use");
  }
  port_table& all = ports();
  const std::lock_guard held(all.lock);
  const auto found = all.open.find(name.text());
  if (found == all.open.end()) {
    throw failure(error_kind::port, "the port \"" + text + "\" is not open");
  }
  return found->second;
}

void close_port(core::runtime& rt, const std::string& name) {
  const std::shared_ptr<open_port> port = own_port(rt, name);
  port->close();
  port_table& all = ports();
  const std::lock_guard held(all.lock);
  all.open.erase(port->name().text());
}

coll::leaders_link connect_to(const std::string& text, std::int64_t deadline_ns, leaders_way& way) {
  core::runtime& rt = way.engine().runtime();
  expect_other_jobs(rt, error_kind::port);
  const port_name name = name_of_port(text);
  if (is_own(rt, name)) {
    throw failure(error_kind::port, "the port \"" + text + "\" is this rank's own");
  }
  greeting own = own_greeting(rt);
  std::memcpy(own.secret, name.secret, sizeof own.secret);
  own.number = next_number();
  std::optional<socket_talk> talk;
  const greeting theirs = greet(way.engine(), talk, name, own, deadline_ns);
  const bool one_build = understands(own, theirs);
  if (theirs.refused != 0 || !one_build) {
    throw failure(error_kind::port,
                  one_build ? "the port's owner refuses this rank: it belongs to another user"
                            : "the port's owner runs another build of Sinew");
  }
  const std::optional<core::resident> other = talk->exchange_residents(own, theirs);
  const char over = 1;
  if (!other || !talk->send(&over, 1)) {
    throw failure(error_kind::port, "the port's owner has ended while it accepted");
  }
  return way.to(*other, tag_of_connection(own.rank, own.number), false);
}

std::optional<coll::leaders_link> join(boot::descriptor socket, leaders_way& way) {
  expect_other_jobs(way.engine().runtime(), error_kind::argument);
  socket_talk talk(way.engine(), std::move(socket), 0);
  greeting own = own_greeting(way.engine().runtime());
  greeting other;
  own.number = next_number();
  if (!talk.send(&own, sizeof own) || !talk.receive(&other, sizeof other)) {
    throw failure(error_kind::argument, "the socket cannot be used: the other side has closed it");
  }
  const bool same = own.job == other.job && own.rank == other.rank && own.tenant == other.tenant;
  if (same || !understands(own, other)) {
    return std::nullopt;
  }
  const std::optional<core::resident> who = talk.exchange_residents(own, other);
  if (!who) {
    return std::nullopt;
  }
  const bool first = std::tie(own.job, own.rank) < std::tie(other.job, other.rank);
  const greeting& lower = first ? own : other;
  return way.to(*who, tag_of_connection(lower.rank, lower.number), first);
}

}  // namespace sinew::dynamic
