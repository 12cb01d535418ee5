// Started by `sinew run`: everything a rank needs is in its environment, so that connecting and
// mapping ask nobody.
#include <sys/socket.h>

#include "boot/environment.hpp"
#include "boot/ways_in.hpp"
#include "boot/wire_session.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/launcher_wire.hpp"

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
  SINEW_CHECK(known && (peer.pid == 0 || peer.pid == launcher), "two launchers claim this process",
              std::string(wire::job) + " comes from `sinew run` (pid " + std::to_string(launcher) +
                  ") but PMI_FD does not",
              "do not start one launcher with another, or run the inner one with "
              "`env -u SINEW_BOOT_JOB`");
}

class sinew_session final : public wire_session {
 public:
  sinew_session(descriptor socket, descriptor memory, std::string job, rank_and_size who)
      : wire_session(std::move(socket)), shared_(std::move(memory)) {
    place_.rank = who.rank;
    place_.size = who.size;
    const rank_and_size local = rank_variables(wire::local_rank, wire::local_size);
    SINEW_CHECK(local.rank == who.rank && local.size == who.size,
                "the launcher's variables contradict each other",
                "`sinew run` starts all ranks on one node, but local and global ranks differ",
                "set none of SINEW_BOOT_* and PMI_* by hand");
    place_.local_rank = local.rank;
    place_.local_size = local.size;
    if (variable(wire::local_cpus)) {
      place_.local_cpus = number_variable(wire::local_cpus, 1);
    }
    place_.local_ranks.resize(static_cast<std::size_t>(who.size));
    for (int rank = 0; rank < who.size; ++rank) {
      place_.local_ranks[static_cast<std::size_t>(rank)] = rank;
    }
    place_.job = std::move(job);
    place_.launcher = "sinew";
    space_ = place_.job;
    channel_.say(std::string("cmd=") + wire::hello);
  }

 private:
  void say_goodbye() override { channel_.say(std::string("cmd=") + wire::goodbye); }
  descriptor node_descriptor() override { return std::move(shared_); }

  descriptor shared_;
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
