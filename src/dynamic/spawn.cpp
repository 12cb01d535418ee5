// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/dynamic/spawn.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/dynamic/connections.hpp"
#include "sinew/dynamic/failure.hpp"
#include "sinew/dynamic/leaders.hpp"
#include "sinew/dynamic/spawned_job.hpp"

namespace sinew::dynamic {
namespace {

/// Without empty words.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty()) {
      words.emplace_back(word);
    }
  }
  return words;
}

int number_in_soft(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < -1'000'000 || value > 1'000'000) {
    throw failure(error_kind::info_value,
                  "\"" + text + "\" is no number, in the info key \"soft\"");
  }
  return static_cast<int>(value);
}

void check_host(const std::string& host) {
  char own[256] = {};
  (void)::gethostname(own, sizeof own - 1);
  if (!host.empty() && host != "localhost" && host != own) {
    throw failure(error_kind::spawn, std::string("ranks can be spawned on this node (") + own +
                                         ") alone, and the info key \"host\" says " + host);
  }
}

}  // namespace

/// What the root was asked for, as launchers take it.
struct spawning::request {
  std::vector<boot::spawn_command> commands;
  std::string hosts;  ///< what the hints say, as --hosts has it

  void add(const command& c, bool in_job);
  /// Hosts of all commands: those of the first that names any.
  void take_hosts(const std::string& named, bool in_job);
};

void spawning::request::take_hosts(const std::string& named, bool in_job) {
  if (in_job) {
    check_host(named);
  } else if (hosts.empty()) {
    hosts = named;
  } else if (!named.empty() && named != hosts) {
    throw failure(error_kind::spawn,
                  "the commands of one spawn run on the same hosts here, and the info key \"host\" "
                  "says " +
                      hosts + " for one and " + named + " for another");
  }
}

void spawning::request::add(const command& c, bool in_job) {
  SINEW_EXPECT(!c.arguments.empty() && c.ranks > 0);
  const auto hint = [&c](const char* key) {
    const auto found = std::find_if(c.hints.begin(), c.hints.end(),
                                    [key](const auto& each) { return each.first == key; });
    return found == c.hints.end() ? std::string() : found->second;
  };
  boot::spawn_command& made = commands.emplace_back();
  made.arguments = c.arguments;
  made.counts = {c.ranks};
  take_hosts(hint("host"), in_job);
  made.directory = hint("wdir").empty() ? hint("wd") : hint("wdir");
  made.path = split(hint("path"), ':');
  made.environment = split(hint("env"), '\n');
  for (const std::string& each : made.environment) {
    if (each.find('=') == each.npos || each.front() == '=') {
      throw failure(error_kind::info_value,
                    "\"" + each + "\" is not NAME=VALUE, in the info key \"env\"");
    }
  }
  if (const std::string soft = hint("soft"); !soft.empty()) {
    made.counts = soft_counts(soft, c.ranks);
  }
}

std::vector<int> soft_counts(const std::string& soft, int most) {
  std::set<int, std::greater<>> counts;
  for (const std::string& part : split(soft, ',')) {
    const std::vector<std::string> words = split(part, ':');
    if (words.empty() || words.size() > 3) {
      throw failure(error_kind::info_value,
                    "\"" + part + "\" is no range, in the info key \"soft\"");
    }
    const int first = number_in_soft(words[0]);
    const int last = words.size() > 1 ? number_in_soft(words[1]) : first;
    const int step = words.size() > 2 ? number_in_soft(words[2]) : 1;
    if (step == 0) {
      throw failure(error_kind::info_value,
                    "the step of \"" + part + "\" is 0, in the info key \"soft\"");
    }
    for (int n = first; step > 0 ? n <= last : n >= last; n += step) {
      if (n >= 1 && n <= most) {
        counts.insert(n);
      }
    }
  }
  if (counts.empty()) {
    throw failure(error_kind::spawn, "the info key \"soft\" (" + soft +
                                         ") allows no number of ranks from 1 to " +
                                         std::to_string(most));
  }
  return {counts.begin(), counts.end()};
}

spawning::spawning(coll::participant job, coll::participant at, comm_rank root,
                   const commands& what)
    : job_(job), at_(at), root_(root), in_job_(launcher_spawns(job.engine.runtime())), way_(job) {
  if (at.comm.rank() == root) {
    try {
      start(what);
    } catch (const failure& f) {
      problem_ = f;
    } catch (const sinew::error& e) {
      problem_.emplace(error_kind::spawn, e.what());
    }
    if (problem_) {
      answer_ = {};
    }
  }
  tell_all();
}

void spawning::start(const commands& what) {
  expect_other_jobs(job_.engine.runtime(), error_kind::spawn);
  const std::vector<command> asked = what();
  request all;
  for (const command& each : asked) {
    wanted_.push_back(each.ranks);
  }
  for (const command& each : asked) {
    all.add(each, in_job_);
  }
  in_job_ ? ask_launcher(std::move(all)) : start_job(std::move(all));
}

/// The launcher starts them. The contact tells them where their spawner waits.
void spawning::ask_launcher(request wanted) {
  core::runtime& rt = job_.engine.runtime();
  const int self = rt.rank().value();
  tag_ = tag_of_connection(self, next_number()).value() | 1;  // not 0: the contact cannot say that
  const std::string contact = std::to_string(self) + "." + std::to_string(tag_);
  std::unique_lock<std::mutex> held;
  answer_ = launcher_line(rt, held).spawn({std::move(wanted.commands), contact});
  if (answer_.ranks.empty()) {
    problem_.emplace(error_kind::spawn, answer_.why);
  }
}

/// A launcher of their own starts them, and they connect to a port of this rank.
void spawning::start_job(request wanted) {
  core::runtime& rt = job_.engine.runtime();
  for (const boot::spawn_command& each : wanted.commands) {
    answer_.counts.push_back(each.counts.front());
  }
  const int ranks = std::accumulate(answer_.counts.begin(), answer_.counts.end(), 0);
  const std::shared_ptr<open_port> port = open_port::open(rt, next_number());
  spawned_job job =
      spawned_job::start({std::move(wanted.commands), port->name().text(),
                          wanted.hosts.empty() ? hosts_for(rt, ranks) : wanted.hosts});
  const patience until{.over = [](void* p) { return static_cast<spawned_job*>(p)->over(); },
                       .context = &job};
  if (const auto found = await_caller(*port, until, way_)) {
    link_.emplace(*found);
  } else {
    problem_.emplace(error_kind::spawn, job.why());
  }
}

/// All ranks get what the root has.
void spawning::tell_all() {
  std::string text = to_text(answer_);
  std::string why = problem_ ? problem_->what() : "";
  const auto share = [&](void* data, std::size_t bytes) {
    (void)coll::bcast(at_, p2p::buffer::of_bytes(data, bytes), root_);
  };
  std::uint64_t told[] = {static_cast<std::uint64_t>(problem_ ? problem_->kind : error_kind::none),
                          static_cast<std::uint64_t>(problem_ ? problem_->code : 0), why.size(),
                          text.size(), wanted_.size()};
  share(told, sizeof told);
  why.resize(told[2]);
  text.resize(told[3]);
  wanted_.resize(told[4]);
  share(why.data(), why.size());
  share(text.data(), text.size());
  share(wanted_.data(), wanted_.size() * sizeof(int));
  answer_ = boot::parse_spawn_answer(text).value_or(boot::spawn_answer{});
  if (const auto kind = static_cast<error_kind>(told[0]); kind != error_kind::none) {
    problem_.emplace(kind, why, static_cast<std::int32_t>(told[1]));
  }
}

coll::intercommunicator_ref spawning::connect() {
  SINEW_EXPECT(!problem_);
  if (!in_job_) {
    return connected(at_, root_, link_ ? &*link_ : nullptr, job_.comm);
  }
  for (const boot::tenancy& each : answer_.ranks) {
    job_.engine.meet(each.rank, each.tenant);
  }
  const coll::leaders_link link{job_.comm, comm_rank{answer_.ranks.front().rank.value()},
                                message_tag{tag_}};
  return connected(at_, root_, &link, job_.comm);
}

namespace {

/// The parent of a rank that its launcher has started in a place of the job.
coll::intercommunicator_ref parent_in_job(coll::participant job, coll::participant world) {
  core::runtime& rt = job.engine.runtime();
  const std::string& contact = rt.session().where().spawning.contact;
  const auto from = boot::parse_tenancies(contact);
  SINEW_CHECK(from.has_value() && from->front().rank.below(rt.reach()),
              "this rank does not find who has spawned it", "its launcher says \"" + contact + "\"",
              "set none of SINEW_BOOT_* by hand");
  const coll::leaders_link link{job.comm, comm_rank{from->front().rank.value()},
                                message_tag{static_cast<int>(from->front().tenant)}};
  return connected(world, 0, &link, job.comm);
}

}  // namespace

coll::intercommunicator_ref parent(coll::participant job, coll::participant world,
                                   std::int64_t timeout_s) {
  const bool in_job = job.engine.runtime().session().where().spawned();
  const std::string port = take_port_of_parent();
  if (in_job) {
    return parent_in_job(job, world);
  }
  if (port.empty()) {
    return nullptr;
  }
  leaders_way way(job);
  const auto find = [&] {
    return connect_to(port, timeout_s == 0 ? 0 : now_ns() + timeout_s * second_ns, way);
  };
  return connected_by(world, 0, find, job.comm);
}

}  // namespace sinew::dynamic
