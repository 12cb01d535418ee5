// SPDX-License-Identifier: BSD-3-Clause
// Started by a PMI-1 launcher: MPICH's mpiexec (Hydra), or `srun --mpi=pmi2`, which also speaks it.
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "boot/environment.hpp"
#include "boot/ways_in.hpp"
#include "boot/wire_session.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/launcher_wire.hpp"

namespace sinew::boot {
namespace {

namespace wire = launcher_wire;

descriptor call_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  SINEW_CHECK(colon != std::string::npos, "PMI_PORT=" + text + " makes no sense",
              "HOST:PORT is needed", "start with the launcher rather than by hand");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure =
      ::getaddrinfo(text.substr(0, colon).c_str(), text.substr(colon + 1).c_str(), &hints, &found);
  SINEW_CHECK(failure == 0, "the launcher's host of PMI_PORT=" + text + " is unknown",
              ::gai_strerror(failure), "");
  descriptor socket;
  for (const addrinfo* each = found; each != nullptr && !socket; each = each->ai_next) {
    descriptor attempt(
        ::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
    if (attempt && ::connect(attempt.get(), each->ai_addr, each->ai_addrlen) == 0) {
      socket = std::move(attempt);
    }
  }
  const int reason = errno;
  ::freeaddrinfo(found);
  SINEW_CHECK(static_cast<bool>(socket), "the launcher at PMI_PORT=" + text + " does not answer",
              std::strerror(reason), "");
  return socket;
}

class pmi1_session final : public wire_session {
 public:
  explicit pmi1_session(descriptor socket, bool by_port) : wire_session(std::move(socket)) {
    const rank_and_size who =
        by_port ? introduce() : rank_variables(wire::pmi_rank, wire::pmi_size);
    place_.rank = job_rank{who.rank};
    place_.size = who.size;
    place_.launcher = "pmi1";
    const pmi_message greeting =
        channel_.ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    SINEW_CHECK(greeting.number("rc").value_or(0) == 0, "the launcher does not speak PMI-1.1",
                "it refused the version", "use MPICH's mpiexec or `sinew run`");
    const pmi_message limits = channel_.ask("cmd=get_maxes", "maxes");
    const pmi_message name = channel_.ask("cmd=get_my_kvsname", "my_kvsname");
    space_ = std::string(name.find("kvsname").value_or(""));
    SINEW_CHECK(!space_.empty(), "the launcher gave no name for this job's keys",
                "its answer to get_my_kvsname has none", "");
    place_.job = space_;
    value_limit_ = room_for_value(limits.number("vallen_max").value_or(0));
    find_neighbours();
  }

 private:
  /// Slurm's reads whole lines of as many bytes as it says that a value may have.
  [[nodiscard]] std::size_t room_for_value(int longest) const {
    constexpr std::size_t longest_key = 64;
    constexpr std::size_t least = 64;
    const std::size_t line =
        std::string_view("cmd=put kvsname= key= value=\n").size() + space_.size() + longest_key;
    const auto told = static_cast<std::size_t>(std::max(longest, 0));
    return std::max(told, line + least) - line;
  }

  void say_goodbye() override { (void)channel_.ask("cmd=finalize", "finalize_ack"); }

  /// By PMI_PORT the launcher tells rank and size over the wire.
  rank_and_size introduce() {
    const pmi_message answer = channel_.ask(
        "cmd=initack pmiid=" + std::to_string(number_variable(wire::pmi_id, 0)), "initack");
    (void)answer;
    rank_and_size who{-1, -1};
    for (int line = 0; line < 3; ++line) {
      const pmi_message message = channel_.hear();
      who.size = message.number("size").value_or(who.size);
      who.rank = message.number("rank").value_or(who.rank);
    }
    SINEW_CHECK(who.rank >= 0 && who.rank < who.size, "the launcher gave no rank",
                "it should have sent size and rank after initack", "");
    return who;
  }

  void find_neighbours() {
    std::vector<int> nodes;
    if (const auto mapping = channel_.get(space_, "PMI_process_mapping")) {
      nodes = parse_process_mapping(*mapping, place_.size);
    }
    if (nodes.empty()) {
      nodes = nodes_by_told_name();
    }
    settle(std::move(nodes));
  }
};

}  // namespace

std::unique_ptr<session> join_pmi1() {
  if (variable(wire::pmi_fd)) {
    return std::make_unique<pmi1_session>(adopt(number_variable(wire::pmi_fd, 0), wire::pmi_fd),
                                          false);
  }
  return std::make_unique<pmi1_session>(call_port(*variable(wire::pmi_port)), true);
}

}  // namespace sinew::boot
