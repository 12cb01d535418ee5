// SPDX-License-Identifier: BSD-3-Clause
// Started by `sinew run`: everything a rank needs is in its environment, so that connecting and
// mapping ask nobody.
#include <sys/socket.h>

#include "boot/environment.hpp"
#include "boot/ways_in.hpp"
#include "boot/wire_session.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/spawn.hpp"
#include "sinew/boot/survival.hpp"
#include "sinew/boot/wait_report.hpp"

namespace sinew::boot {
namespace {

namespace wire = launcher_wire;

// The socket's other end tells who made it; a launcher started by one of our ranks leaves our
// variables in place but brings its own PMI_FD.
void check_launcher(int socket) {
  const int launcher = number_variable(wire::launcher_pid, 1);
  ucred peer{};
  socklen_t length = sizeof peer;
  const bool known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
  // Pid 0: the launcher lives in another pid namespace and cannot be compared.
  SINEW_CHECK(known && (peer.pid == 0 || peer.pid == launcher),
              "two launchers have started this process",
              std::string(wire::job) + " comes from `sinew run` (pid " + std::to_string(launcher) +
                  ") but PMI_FD does not",
              "do not start one launcher with another, or run the inner one with "
              "`env -u SINEW_BOOT_JOB`");
}

class sinew_session final : public wire_session, public connection_listener {
 public:
  sinew_session(descriptor socket, descriptor memory, std::string job, rank_and_size who)
      : wire_session(std::move(socket)), shared_(std::move(memory)) {
    place_.rank = job_rank{who.rank};
    place_.size = who.size;
    value_limit_ = wire::value_limit;
    if (variable(wire::local_cpus)) {
      place_.local_cpus = number_variable(wire::local_cpus, 1);
    }
    if (variable(wire::application)) {
      place_.application = number_variable(wire::application, 0);
    }
    find_neighbours();
    find_places();
    place_.job = std::move(job);
    place_.launcher = "sinew";
    space_ = place_.job;
    if (variable(wire::survival_fd)) {
      const descriptor shared = adopt(number_variable(wire::survival_fd, 0), wire::survival_fd);
      survival_ = std::make_unique<survival>(
          shared.get(), place_.reach(),
          place_.nodes > 1 ? vote_teller([this](auto... what) { tell_vote(what...); })
                           : vote_teller());
    }
    channel_.say(std::string("cmd=") + wire::hello);
  }

  void resume() override {
    SINEW_EXPECT(finalized_);
    finalized_ = false;
    attendance_.come_back();
    channel_.say(std::string("cmd=") + wire::returned);
  }

  [[nodiscard]] survival* survivors() noexcept override { return survival_.get(); }

  [[nodiscard]] spawn_answer spawn(const spawn_request& request) override {
    if (place_.spawning.count == 0) {
      return session::spawn(request);
    }
    const std::string word = pmi_escape(to_text(request));
    SINEW_CHECK(word.size() <= longest_spawn_request, "the ranks cannot be started",
                "their programs' arguments and environment take " + std::to_string(word.size()) +
                    " bytes, and " + std::to_string(longest_spawn_request) + " is the limit",
                "hand over long lists by a file or a message");
    const pmi_message said =
        channel_.ask(std::string("cmd=") + wire::spawn + " request=" + word, wire::spawn_done);
    const auto text = pmi_unescape(said.find("answer").value_or(""));
    auto answer = text ? parse_spawn_answer(*text) : std::nullopt;
    SINEW_CHECK(answer.has_value(), "the launcher's answer to a spawn makes no sense", "",
                "use the `sinew run` of this version");
    return std::move(*answer);
  }
  [[nodiscard]] bool asks_for_waits() const noexcept override { return true; }
  [[nodiscard]] int take_question() noexcept override { return channel_.take_question(); }
  void tell_wait(const wait_report& report) noexcept override {
    try {
      channel_.say(to_line(report));
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // The launcher has gone, and with it the job.
    }
  }
  void stay_connected() override { channel_.say(std::string("cmd=") + wire::connected); }
  void tell_connections(const connections& now) override {
    if (place_.spawning.count != 0 && !(now.empty() && has_no_connections_)) {
      has_no_connections_ = now.empty();
      channel_.say(std::string("cmd=") + wire::connections + " ranks=" + to_text(now));
    }
  }

 private:
  void find_neighbours() {
    const auto mapping = variable(wire::nodes);
    std::vector<int> node_of(static_cast<std::size_t>(place_.size), 0);
    if (mapping) {
      node_of = parse_process_mapping(*mapping, place_.size);
      if (const auto names = variable(wire::hosts); names && !names->empty()) {
        place_.hosts = base::split(*names, ',');
      }
    }
    const rank_and_size local = rank_variables(wire::local_rank, wire::local_size);
    const bool mapped = node_of.size() == static_cast<std::size_t>(place_.size);
    if (mapped) {
      settle(std::move(node_of));
    }
    SINEW_CHECK(
        mapped && local.rank == place_.local_rank.value() && local.size == place_.local_size,
        "the launcher's variables contradict each other",
        "local and global ranks do not fit the nodes of the job",
        "set none of SINEW_BOOT_* and PMI_* by hand");
  }

  void find_places() {
    if (!variable(wire::places) || place_.nodes > 1) {
      return;
    }
    spawn_places where;
    where.count = number_variable(wire::places, place_.size);
    where.started = place_.size;
    const auto text = variable(wire::spawned);
    if (text) {
      const auto fellows = parse_tenancies(*text);
      where.started = number_variable(wire::started, 1);
      where.contact = variable(wire::contact).value_or("");
      const bool fits = fellows && fellows->size() == static_cast<std::size_t>(place_.size) &&
                        fellows->front().rank >= job_rank{where.started} &&
                        fellows->back().rank.below(where.count);
      SINEW_CHECK(fits, "the launcher's variables contradict each other",
                  "the ranks that were spawned together have no places in the job",
                  "set none of SINEW_BOOT_* and PMI_* by hand");
      for (const tenancy& each : *fellows) {
        where.fellows.push_back(each.rank);
        where.tenants.push_back(each.tenant);
      }
    }
    has_no_connections_ = !text;
    take_place(std::move(where));
  }

  void tell_vote(const ballot& b, std::uint32_t flag, bool left) noexcept {
    try {
      channel_.say(std::string("cmd=") + wire::vote + " slot=" + std::to_string(b.slot) +
                   " key=" + std::to_string(b.key) + " turn=" + std::to_string(b.turn) +
                   (left ? "" : " flag=" + std::to_string(static_cast<int>(flag))));
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // The launcher has gone, and with it the job.
    }
  }

  void say_goodbye() override { channel_.say(std::string("cmd=") + wire::goodbye); }
  descriptor node_descriptor() override { return std::move(shared_); }

  descriptor shared_;
  std::unique_ptr<survival> survival_;
  /// As far as the launcher knows. It takes a spawned rank for connected until it has spoken.
  bool has_no_connections_ = true;
};

}  // namespace

std::unique_ptr<session> join_sinew() {
  const rank_and_size who = rank_variables(wire::pmi_rank, wire::pmi_size);
  descriptor socket = adopt(number_variable(wire::pmi_fd, 0), wire::pmi_fd);
  check_launcher(socket.get());
  descriptor memory = adopt(number_variable(wire::shm_fd, 0), wire::shm_fd);
  return std::make_unique<sinew_session>(std::move(socket), std::move(memory),
                                         variable(wire::job).value_or(""), who);
}

}  // namespace sinew::boot
