// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/daemon_starter.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/run/hosts.hpp"
#include "sinew/run/pipe.hpp"
#include "sinew/run/rank_process.hpp"

namespace sinew::tool {
namespace {

// A login may take long where home directories are far; what has taken so long has failed.
constexpr std::int64_t slow_start_ns = 5 * second_ns;
constexpr std::int64_t longest_start_ns = 30 * second_ns;
constexpr std::size_t most_callers = 256;
constexpr std::size_t most_addresses = 16;
constexpr std::int64_t caller_ns = 3 * second_ns;
constexpr std::size_t longest_agent_line = 65'536;
constexpr std::size_t most_agent_lines = 1000;

std::string own_path() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  SINEW_CHECK(size > 0 && size < static_cast<ssize_t>(path.size()),
              "the launcher does not find its own file", "/proc/self/exe cannot be read",
              "mount /proc");
  return {path.data(), static_cast<std::size_t>(size)};
}

std::string for_a_shell(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return text + "'";
}

/// The first whole line of what a pipe brought; when the pipe has ended, the rest is one.
bool take_line(std::string& begun, bool ended, std::string& line) {
  const std::size_t end = std::min(begun.find('\n'), begun.size());
  if (begun.empty() || (end == begun.size() && !ended && end < longest_agent_line)) {
    return false;
  }
  line = begun.substr(0, end);
  begun.erase(0, end + 1);
  return true;
}

std::vector<std::string> current_environment() {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    all.emplace_back(*each);
  }
  return all;
}

}  // namespace

daemon_starter::daemon_starter(event_loop& loop, host_agent agent,
                               const std::vector<std::string>& names, const std::vector<int>& nodes,
                               events calls)
    : loop_(loop),
      agent_(std::move(agent)),
      calls_(std::move(calls)),
      secret_(random_secret()),
      reaper_(static_cast<int>(nodes.size())) {
  for (const int node : nodes) {
    auto each = std::make_unique<candidate>();
    each->place = static_cast<int>(candidates_.size());
    each->node = node;
    each->name = names[static_cast<std::size_t>(node)];
    candidates_.push_back(std::move(each));
  }
}

void daemon_starter::start(const sigset_t& mask) {
  mask_ = mask;
  if (!agent_.carries_all) {
    (void)settings::load_environment();  // what is unknown is told by the ranks
    listeners_ = boot::listen_for_hosts(boot::address_family::any, most_addresses, SOMAXCONN);
  }
  for (const boot::descriptor& each : listeners_.sockets) {
    const int number = each.get();
    loop_.watch_input(number, [this, number] { accept_callers(number); });
  }
  for (const auto& each : candidates_) {
    if (!given_up_) {
      start_agent(*each);
    }
  }
}

// The agent joins its words and gives them to a shell on the host, as ssh does; srun has no shell.
std::vector<std::string> daemon_starter::agent_words(const candidate& to) const {
  if (is_this_machine(to.name)) {
    return {own_path(), "daemon"};
  }
  std::vector<std::string> words;
  std::istringstream text(agent_.command.empty()
                              ? "ssh -x -o BatchMode=yes -o ConnectTimeout=4 -o LogLevel=ERROR"
                              : agent_.command);
  for (std::string word; text >> word;) {
    words.push_back(word);
  }
  SINEW_CHECK(!words.empty(), "--rsh names no command", "it is empty", "write --rsh ssh");
  words.push_back(to.name);
  const std::string line = "exec " + for_a_shell(own_path()) + " daemon";
  if (words.front().substr(words.front().rfind('/') + 1) == "srun") {
    words.insert(words.end(), {"/bin/sh", "-c"});
  }
  words.push_back(line);
  return words;
}

void daemon_starter::start_agent(candidate& to) {
  SINEW_EXPECT(to.agent < 0 && to.at == stage::awaited);
  const std::string no_pipe = "no pipe for a host's agent";
  auto [input_end, to_agent] = make_pipe(no_pipe);
  auto [from_agent, output_end] = make_pipe(no_pipe);
  auto [errors, errors_end] = make_pipe(no_pipe);
  start_plan start;
  start.arguments = agent_words(to);
  const program_lookup found = find_program(start.arguments.front());
  if (found.exit_code != 0) {
    return fail(to, found.exit_code,
                "the host " + to.name + " cannot be reached: its agent, " + found.complaint +
                    "; name another with --rsh");
  }
  start.program = found.path;
  start.environment = current_environment();
  start.streams = {input_end.get(), output_end.get(), errors_end.get()};
  start.signal_mask = mask_;
  ::getrlimit(RLIMIT_NOFILE, &start.open_files);
  start.pid_slot = &reaper_.pid_of(to.place);
  to.began_ns = now_ns();
  const start_result result = start_rank(start);
  to.agent = result.pid;
  if (result.failure != 0) {
    const start_failure why = explain(start, result);
    return fail(to, why.exit_code, "the agent of the host " + to.name + ": " + why.text);
  }
  const bool by_agent = is_this_machine(to.name) || listeners_.sockets.empty();
  const greeting hello{build_name(), secret_, to.node, by_agent ? 0 : listeners_.port,
                       by_agent ? std::vector<std::string>() : listeners_.addresses};
  const std::string line = greeting_line(hello);
  (void)!::write(to_agent.get(), line.data(), line.size());  // a pipe takes a page at least
  to.to_agent = std::move(to_agent);
  to.from_agent = std::move(from_agent);
  to.errors = std::move(errors);
  for (const int each : {to.from_agent.get(), to.errors.get()}) {
    ::fcntl(each, F_SETFL, O_NONBLOCK);
  }
  loop_.watch_input(to.from_agent.get(), [this, &to] { read_agent(to); });
  loop_.watch_input(to.errors.get(), [this, &to] { read_errors(to); });
}

// Byte by byte would be slow, but behind the line that we look for nothing comes before we answer.
void daemon_starter::read_agent(candidate& from) {
  if (!read_more(from.from_agent, from.line)) {
    return;
  }
  for (std::string line; take_line(from.line, !from.from_agent, line);) {
    if (from.at == stage::awaited && line == stay_line(from.node)) {
      loop_.forget(from.from_agent.get());
      return connect(from, {std::move(from.from_agent), std::move(from.to_agent)});
    }
    hear(from, std::move(line), from.at == stage::connected);
  }
}

void daemon_starter::read_errors(candidate& from) {
  if (read_more(from.errors, from.error_line)) {
    for (std::string line; take_line(from.error_line, !from.errors, line);) {
      hear(from, std::move(line), true);
    }
  }
}

/// False: nothing is new. A pipe that has ended is closed.
bool daemon_starter::read_more(boot::descriptor& pipe, std::string& begun) {
  std::array<char, 4096> bytes;
  const ssize_t got = ::read(pipe.get(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return false;
  }
  if (got <= 0) {
    loop_.forget(pipe.get());
    pipe.reset();
    return true;
  }
  begun.append(bytes.data(), static_cast<std::size_t>(got));
  return true;
}

// Errors are for people in any case; what a login's start-up files print, if no daemon comes.
void daemon_starter::hear(candidate& from, std::string line, bool for_people) {
  const std::size_t end = line.find_last_not_of(" \t\r");
  if (end == std::string::npos || from.at == stage::failed ||
      from.said.size() >= most_agent_lines) {
    return;
  }
  line.resize(end + 1);
  from.said.push_back({std::move(line), for_people});
  if (from.at == stage::connected || from.told_slow) {
    tell_said(from);
  }
}

void daemon_starter::tell_said(candidate& of) {
  for (const agent_line& each : of.said) {
    if (each.for_people) {
      calls_.remark(of.name + ": " + each.text);
    }
  }
  std::erase_if(of.said, [](const agent_line& each) { return each.for_people; });
}

void daemon_starter::accept_callers(int listener) {
  while (true) {
    boot::descriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      return;
    }
    if (callers_.size() >= most_callers) {
      continue;
    }
    tune_connection(socket.get());
    const secret_bytes challenge = random_secret();
    const int number = socket.get();
    if (::send(number, &challenge, sizeof challenge, MSG_NOSIGNAL) != sizeof challenge) {
      continue;
    }
    callers_.push_back({std::move(socket), challenge, "", now_ns() + caller_ns});
    loop_.watch_input(number, [this, number] { read_caller(number); });
  }
}

void daemon_starter::read_caller(int socket) {
  const auto from = std::find_if(callers_.begin(), callers_.end(), [socket](const caller& each) {
    return each.socket.get() == socket;
  });
  SINEW_ASSERT(from != callers_.end());
  daemon_proof given;
  std::array<char, sizeof given> bytes;
  const ssize_t got = ::recv(socket, bytes.data(), sizeof given - from->bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  from->bytes.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got > 0 && from->bytes.size() < sizeof given) {
    return;
  }
  caller who = std::move(*from);
  callers_.erase(from);
  loop_.forget(socket);
  if (who.bytes.size() == sizeof given) {  // else it has hung up
    std::memcpy(&given, who.bytes.data(), sizeof given);
    admit(std::move(who), given);
  }
}

void daemon_starter::admit(caller who, const daemon_proof& given) {
  const auto whose = std::find_if(candidates_.begin(), candidates_.end(), [&given](const auto& c) {
    return static_cast<std::uint32_t>(c->node) == given.claim.node;
  });
  const int socket = who.socket.get();
  const auto near = near_end(socket);
  const auto far = far_end(socket);
  if (!is_daemon(secret_, who.challenge, given) || whose == candidates_.end() ||
      (*whose)->at != stage::awaited || !near || !far) {
    return;  // somebody else's connection
  }
  candidate& daemon = **whose;
  if (given.claim.ends != connection_ends{*near, *far}) {
    if (!std::exchange(daemon.told_ends, true)) {
      calls_.remark("the daemon on " + daemon.name + " has called " +
                    text(given.claim.ends.launcher) + " from " + text(given.claim.ends.daemon) +
                    ", and the call came to " + text(*near) + " from " + text(*far) +
                    ": addresses are translated on the way, or somebody relays; the call is not "
                    "taken, and the agent carries all (--through-agent asks for that at once)");
    }
    return;
  }
  const secret_bytes proof = prove_launcher(secret_, who.challenge, given.claim);
  if (::send(socket, &proof, sizeof proof, MSG_NOSIGNAL) == sizeof proof) {
    connect(daemon, {std::move(who.socket), {}, keys_of(secret_, who.challenge, given.claim)});
  }
}

void daemon_starter::connect(candidate& to, daemon_line line) {
  SINEW_EXPECT(to.at == stage::awaited && line.in);
  to.at = stage::connected;
  tell_said(to);
  calls_.connected(to.node, std::move(line));
}

void daemon_starter::fail(candidate& which, int code, const std::string& why) {
  SINEW_EXPECT(which.at == stage::awaited);
  which.at = stage::failed;
  which.to_agent.reset();
  if (!given_up_) {
    calls_.failed(which.node, code, why);
  }
}

/// The last line that it said stands in the sentence, the others before it.
std::string daemon_starter::why_no_daemon(candidate& of, int code) {
  const std::string agent = agent_words(of).front();
  std::string said;
  if (!of.said.empty()) {
    said = ": " + of.said.back().text;
    of.said.pop_back();
  }
  for (agent_line& each : of.said) {
    each.for_people = true;
  }
  tell_said(of);
  if (code == 127 || code == 126) {
    return "the host " + of.name + " has no Sinew at " + own_path() + said +
           "; install the same build there, or use a file system that both see";
  }
  return "the host " + of.name + " cannot be used: " + agent + " ended with code " +
         std::to_string(code) + said +
         (agent.ends_with("ssh")
              ? "; check that `ssh " + of.name + " true` works without a password"
              : "");
}

void daemon_starter::agent_has_ended(candidate& of, int code) {
  of.agent_ended = true;
  // What it said last is still in its pipes; a daemon that runs on without it has its connection.
  for (int round = 0; round < 64 && of.errors; ++round) {
    read_errors(of);
  }
  if (of.at == stage::awaited && of.from_agent) {
    read_agent(of);
  }
  if (of.at == stage::awaited) {
    fail(of, 1, why_no_daemon(of, code));
  }
}

void daemon_starter::on_child(const siginfo_t& child) {
  const auto of = std::find_if(candidates_.begin(), candidates_.end(), [&child](const auto& each) {
    return each->agent == child.si_pid && !each->agent_ended;
  });
  if (of != candidates_.end()) {
    reaper_.pid_of((*of)->place).store(0, std::memory_order_release);
    agent_has_ended(**of, child.si_code == CLD_EXITED ? child.si_status : 128 + child.si_status);
  }
}

void daemon_starter::give_up() {
  given_up_ = true;
  for (const auto& each : candidates_) {
    if (each->at != stage::connected && each->agent > 0 && !each->agent_ended) {
      signal_rank(each->agent, SIGKILL);
    }
    if (each->at == stage::awaited) {
      fail(*each, 0, "");
    }
  }
}

void daemon_starter::leave_agents() {
  for (const auto& each : candidates_) {
    each->agent_ended = true;
  }
}

bool daemon_starter::agents_have_ended() const {
  return std::all_of(candidates_.begin(), candidates_.end(),
                     [](const auto& each) { return each->agent <= 0 || each->agent_ended; });
}

void daemon_starter::look_after(std::int64_t now) {
  for (const auto& each : candidates_) {
    if (each->at != stage::awaited || each->began_ns == 0) {
      continue;
    }
    if (now - each->began_ns > slow_start_ns && !each->told_slow) {
      each->told_slow = true;
      tell_said(*each);
      calls_.remark("the host " + each->name + " has not answered yet; it has " +
                    std::to_string((longest_start_ns - slow_start_ns) / second_ns) + " s more");
    }
    if (now - each->began_ns > longest_start_ns) {
      fail(*each, 1,
           "the host " + each->name + " does not answer: its agent runs, but no daemon came in " +
               std::to_string(longest_start_ns / second_ns) +
               " s; check what a login there does (`" + agent_words(*each).front() + " " +
               each->name + " true`)");
    }
  }
  std::erase_if(callers_, [this, now](const caller& each) {
    const bool late = now > each.until_ns;
    if (late) {
      loop_.forget(each.socket.get());
    }
    return late;
  });
}

}  // namespace sinew::tool
