// MPI-5.0 sections 11.8 to 11.10: groups of one job that meet at a port, under a published name or
// by a socket. (Ranks of different jobs share no memory, so they cannot.)
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/intercomm.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

boot::session& launcher_line(std::unique_lock<std::mutex>& held) {
  static auto& lock = *new std::mutex;
  held = std::unique_lock(lock);
  return process.runtime->session();
}

int next_number() {
  static std::atomic<int> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) % 0x3fffffff + 1;
}

message_tag tag_of_connection(int caller, int number) {
  const auto mixed = (static_cast<std::uint32_t>(caller) * 0x9e3779b1U) ^
                     (static_cast<std::uint32_t>(number) * 0x85ebca6bU);
  return message_tag{static_cast<int>(mixed & 0x7fffffff)};
}

namespace {

// One service keeps names and open ports apart.
std::string service_key(const char* name) {
  check_out(name, "service_name");
  return std::string("service ") + name;
}
std::string port_key(const std::string& name) { return "port " + name; }

/// "sinew:JOB:RANK:NUMBER": whose port it is, and which of its.
struct port {
  std::string name;
  int owner = -1;
  int number = -1;
};

std::string port_name(int owner, int number) {
  return "sinew:" + process.runtime->session().where().job + ":" + std::to_string(owner) + ":" +
         std::to_string(number);
}

/// Throws MPI_ERR_PORT unless it is an open port of this job.
port port_of(const char* name) {
  check_out(name, "port_name");
  port p{name};
  char job[MPI_MAX_PORT_NAME] = {};
  static_assert(MPI_MAX_PORT_NAME > 255);
  const std::string text = p.name.substr(0, MPI_MAX_PORT_NAME - 1);
  if (std::sscanf(text.c_str(), "sinew:%255[^:]:%d:%d", job, &p.owner, &p.number) != 3) {
    fail(MPI_ERR_PORT, "\"%s\" is no name of a port", text.c_str());
  }
  if (job != process.runtime->session().where().job) {
    fail(MPI_ERR_PORT, "the port \"%s\" belongs to another job; only ranks of one job can connect",
         text.c_str());
  }
  std::unique_lock<std::mutex> held;
  if (p.owner < 0 || p.owner >= process.runtime->reach() ||
      p.name != port_name(p.owner, p.number) || !launcher_line(held).lookup(port_key(p.name))) {
    fail(MPI_ERR_PORT, "the port \"%s\" is not open", text.c_str());
  }
  SINEW_ENSURE(p.number > 0);
  return p;
}

comm_object& group_at(MPI_Comm comm, int root, MPI_Info info, MPI_Comm* newcomm) {
  comm_object& c = intracomm_of(comm);
  check_out(newcomm, "newcomm");
  check_root(c, root);
  if (c.comm->rank() == comm_rank{root} && info != MPI_INFO_NULL) {
    (void)info_of(info);  // no hints are known
  }
  return c;
}

p2p::buffer word(int& value) { return p2p::buffer::of_bytes(&value, sizeof value); }

}  // namespace

int impl::Open_port(MPI_Info info, char* port_name) {
  check_out(port_name, "port_name");
  if (info != MPI_INFO_NULL) {
    (void)info_of(info);
  }
  const std::string name = mpi::port_name(process.runtime->rank().value(), next_number());
  std::unique_lock<std::mutex> held;
  if (name.size() >= MPI_MAX_PORT_NAME || !launcher_line(held).publish(port_key(name), "open")) {
    fail(MPI_ERR_PORT, "the launcher cannot keep the port \"%s\"", name.c_str());
  }
  std::memcpy(port_name, name.c_str(), name.size() + 1);
  return MPI_SUCCESS;
}

int impl::Close_port(const char* port_name) {
  const port p = port_of(port_name);
  std::unique_lock<std::mutex> held;
  if (!launcher_line(held).unpublish(port_key(p.name))) {
    fail(MPI_ERR_PORT, "the port \"%s\" is not open", port_name);
  }
  return MPI_SUCCESS;
}

/// The other group's leader has sent its number to this port.
int impl::Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm* newcomm) {
  comm_object& c = group_at(comm, root, info, newcomm);
  const auto find = [&] {
    const port p = port_of(port_name);
    if (p.owner != process.runtime->rank().value()) {
      fail(MPI_ERR_PORT, "the port \"%s\" was opened by rank %d of the job, and is for it to use",
           port_name, p.owner);
    }
    int number = 0;
    const p2p::result caller =
        process.engine->recv(*process.job, p2p::messages_of(*process.job), word(number),
                             p2p::any_source, message_tag{p.number});
    SINEW_ASSERT(caller.error == p2p::fault::none && number > 0);
    return coll::leaders_link{*process.job, caller.source,
                              tag_of_connection(caller.source.value(), number)};
  };
  *newcomm = adopt(connected_by(participant_of(c), comm_rank{root}, find), c);
  return MPI_SUCCESS;
}

int impl::Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                       MPI_Comm* newcomm) {
  comm_object& c = group_at(comm, root, info, newcomm);
  const auto find = [&] {
    const port p = port_of(port_name);
    const int self = process.runtime->rank().value();
    if (p.owner == self) {
      fail(MPI_ERR_PORT, "the port \"%s\" is this rank's own", port_name);
    }
    int number = next_number();
    process.engine->meet(job_rank{p.owner});
    (void)process.engine->send(*process.job, p2p::messages_of(*process.job), word(number),
                               comm_rank{p.owner}, message_tag{p.number});
    return coll::leaders_link{*process.job, comm_rank{p.owner}, tag_of_connection(self, number)};
  };
  *newcomm = adopt(connected_by(participant_of(c), comm_rank{root}, find), c);
  return MPI_SUCCESS;
}

int impl::Publish_name(const char* service_name, MPI_Info, const char* port_name) {
  check_out(port_name, "port_name");
  const std::string key = service_key(service_name);
  std::unique_lock<std::mutex> held;
  if (!launcher_line(held).publish(key, port_name)) {
    fail(MPI_ERR_SERVICE, "the service \"%s\" is published already", service_name);
  }
  return MPI_SUCCESS;
}

int impl::Unpublish_name(const char* service_name, MPI_Info, const char* port_name) {
  check_out(port_name, "port_name");
  const std::string key = service_key(service_name);
  std::unique_lock<std::mutex> held;
  if (!launcher_line(held).unpublish(key)) {
    fail(MPI_ERR_SERVICE, "the service \"%s\" is not published", service_name);
  }
  return MPI_SUCCESS;
}

int impl::Lookup_name(const char* service_name, MPI_Info, char* port_name) {
  check_out(port_name, "port_name");
  const std::string key = service_key(service_name);
  std::unique_lock<std::mutex> held;
  const std::optional<std::string> found = launcher_line(held).lookup(key);
  if (!found || found->size() >= MPI_MAX_PORT_NAME) {
    fail(MPI_ERR_NAME, "no service \"%s\" is published", service_name);
  }
  std::memcpy(port_name, found->c_str(), found->size() + 1);
  return MPI_SUCCESS;
}

namespace {

/// What the two sides of a socket tell each other.
struct greeting {
  char magic[16] = "sinew join 1";
  char job[112] = {};
  std::int32_t rank = -1;
  std::int32_t number = 0;
};

/// Sends or receives all of it. A socket that ends early is an error.
template <class Call>
void whole(Call call, greeting& g) {
  auto* at = reinterpret_cast<std::byte*>(&g);
  std::size_t left = sizeof g;
  while (left > 0) {
    const ssize_t moved = call(at, left);
    if (moved < 0 && errno == EINTR) {
      continue;
    }
    if (moved <= 0) {
      fail(MPI_ERR_ARG, "the socket cannot be used: %s",
           moved == 0 ? "the other side has closed it" : std::strerror(errno));
    }
    at += moved;
    left -= static_cast<std::size_t>(moved);
  }
}

}  // namespace

int impl::Comm_join(int fd, MPI_Comm* intercomm) {
  check_out(intercomm, "intercomm");
  *intercomm = MPI_COMM_NULL;
  const std::string& job = process.runtime->session().where().job;
  greeting own, other;
  own.rank = process.runtime->rank().value();
  own.number = next_number();
  (void)job.copy(own.job, sizeof own.job - 1);
  whole([fd](void* at, std::size_t n) { return ::send(fd, at, n, MSG_NOSIGNAL); }, own);
  // Wait: for the other side of the socket, as the call is defined to.
  whole([fd](void* at, std::size_t n) { return ::recv(fd, at, n, 0); }, other);
  if (std::memcmp(own.magic, other.magic, sizeof own.magic) != 0 ||
      std::memcmp(own.job, other.job, sizeof own.job) != 0 || own.rank == other.rank) {
    return MPI_SUCCESS;  // no connection can be had: MPI_COMM_NULL says so
  }
  SINEW_ASSERT(other.rank >= 0 && other.rank < process.runtime->reach());
  process.engine->meet(job_rank{other.rank});
  const greeting& lower = own.rank < other.rank ? own : other;
  comm_object& self = *process.comms[2];
  const coll::leaders_link link{*process.job, comm_rank{other.rank},
                                tag_of_connection(lower.rank, lower.number)};
  *intercomm = adopt(connected(participant_of(self), 0, &link), self);
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
