// SPDX-License-Identifier: BSD-3-Clause
// Starts daemons on other hosts, up to the connection with each: for the launcher, and for daemons
// that have others below them.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/boot/listening.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/greeting.hpp"
#include "sinew/run/reaper.hpp"

namespace sinew::tool {

/// How a command is started on another host, and whether daemons speak through that alone.
struct host_agent {
  std::string command;  ///< empty: ssh
  bool carries_all = false;
};

/// An agent (ssh, or --rsh) starts a daemon on each host, which connects back to us or, where it
/// cannot, speaks through the agent. Every starter has a secret of its own.
class daemon_starter {
 public:
  struct events {
    std::function<void(int node, daemon_line line)> connected;
    /// No daemon will come from there: an exit code and a sentence.
    std::function<void(int node, int code, const std::string& why)> failed;
    std::function<void(const std::string& text)> remark;
  };

  /// `names` are those of all hosts, by node; `nodes` those to start on.
  daemon_starter(event_loop& loop, host_agent agent, const std::vector<std::string>& names,
                 const std::vector<int>& nodes, events calls);

  void start(const sigset_t& mask);
  /// A child of this process has ended, an agent or another one; see reap_children().
  void on_child(const siginfo_t& child);
  /// Tells of hosts that do not answer, and gives them up.
  void look_after(std::int64_t now);
  /// Ends the agents whose daemons have not come. From now on nothing is called a failure.
  void give_up();
  [[nodiscard]] bool agents_have_ended() const;
  /// They are not waited for any more: the reaper ends them.
  void leave_agents();

 private:
  enum class stage { awaited, connected, failed };
  struct agent_line {
    std::string text;
    bool for_people = false;  // also where its daemon comes
  };
  struct candidate {
    int place = 0;  // of the agent among the reaper's
    int node = 0;
    std::string name;
    pid_t agent = -1;
    bool agent_ended = false;
    boot::descriptor to_agent;
    boot::descriptor from_agent;
    boot::descriptor errors;
    std::string line;              // begun, on its output
    std::string error_line;        // begun, on its error output
    std::vector<agent_line> said;  // not told yet
    stage at = stage::awaited;
    std::int64_t began_ns = 0;
    bool told_slow = false;
    bool told_ends = false;
  };
  /// Somebody who has connected and proved nothing yet.
  struct caller {
    boot::descriptor socket;
    secret_bytes challenge;
    std::string bytes;
    std::int64_t until_ns = 0;
  };

  void start_agent(candidate& to);
  [[nodiscard]] std::vector<std::string> agent_words(const candidate& to) const;
  void read_agent(candidate& from);
  void read_errors(candidate& from);
  [[nodiscard]] bool read_more(boot::descriptor& pipe, std::string& begun);
  void hear(candidate& from, std::string line, bool for_people);
  void tell_said(candidate& of);
  void accept_callers(int listener);
  void read_caller(int socket);
  void admit(caller who, const daemon_proof& given);
  void connect(candidate& to, daemon_line line);
  void fail(candidate& which, int code, const std::string& why);
  void agent_has_ended(candidate& of, int code);
  [[nodiscard]] std::string why_no_daemon(candidate& of, int code);

  event_loop& loop_;
  host_agent agent_;
  events calls_;
  secret_bytes secret_;
  boot::listeners listeners_;
  std::vector<caller> callers_;
  std::vector<std::unique_ptr<candidate>> candidates_;
  reaper reaper_;  // of the agents
  sigset_t mask_{};
  bool given_up_ = false;
};

}  // namespace sinew::tool
