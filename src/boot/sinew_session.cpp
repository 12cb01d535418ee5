// Started by `sinew run`: everything a rank needs is in its environment, so that connecting and
// mapping ask nobody.
#include <sys/socket.h>

#include <sstream>

#include "boot/environment.hpp"
#include "boot/ways_in.hpp"
#include "boot/wire_session.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/survival.hpp"

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

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream text(list);
  for (std::string name; std::getline(text, name, ',');) {
    names.push_back(name);
  }
  return names;
}

class sinew_session final : public wire_session {
 public:
  sinew_session(descriptor socket, descriptor memory, std::string job, rank_and_size who)
      : wire_session(std::move(socket)), shared_(std::move(memory)) {
    place_.rank = job_rank{who.rank};
    place_.size = who.size;
    value_limit_ = wire::value_limit;
    if (variable(wire::local_cpus)) {
      place_.local_cpus = number_variable(wire::local_cpus, 1);
    }
    find_neighbours();
    place_.job = std::move(job);
    place_.launcher = "sinew";
    space_ = place_.job;
    if (variable(wire::survival_fd)) {
      const descriptor shared = adopt(number_variable(wire::survival_fd, 0), wire::survival_fd);
      survival_ = std::make_unique<survival>(shared.get(), who.size);
    }
    channel_.say(std::string("cmd=") + wire::hello);
  }

  [[nodiscard]] survival* survivors() noexcept override { return survival_.get(); }

 private:
  void find_neighbours() {
    const auto mapping = variable(wire::nodes);
    std::vector<int> node_of(static_cast<std::size_t>(place_.size), 0);
    if (mapping) {
      node_of = parse_process_mapping(*mapping, place_.size);
      place_.hosts = split(variable(wire::hosts).value_or(""));
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

  void say_goodbye() override { channel_.say(std::string("cmd=") + wire::goodbye); }
  descriptor node_descriptor() override { return std::move(shared_); }

  descriptor shared_;
  std::unique_ptr<survival> survival_;
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
