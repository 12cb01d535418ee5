// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 11.8 to 11.10: groups of one job or of several that meet at a port, under a
// published name or by a socket, over the module dynamic.
#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/intercomm.hpp"
#include "abi/mpi/settings.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/dynamic/leaders.hpp"
#include "sinew/dynamic/names.hpp"

namespace sinew::mpi {
namespace {

std::string text_of_port(const char* name) {
  check_out(name, "port_name");
  return {name, ::strnlen(name, MPI_MAX_PORT_NAME - 1)};
}

std::string service_key(const char* name) {
  check_out(name, "service_name");
  return std::string("service ") + name;
}

std::string hint(MPI_Info info, const char* key) {
  return info == MPI_INFO_NULL ? std::string() : info_of(info).value(key);
}

/// What the info's "timeout" says, in seconds; else `usual`. 0: no end.
std::int64_t deadline_by(MPI_Info info, std::int64_t usual) {
  const std::string text = hint(info, "timeout");
  std::int64_t seconds = usual;
  if (!text.empty()) {
    char* end = nullptr;
    seconds = std::strtoll(text.c_str(), &end, 10);
    if (*end != '\0' || seconds < 0 || seconds > 1'000'000) {
      fail(MPI_ERR_INFO_VALUE, "\"%s\" is no number of seconds, in the info key \"timeout\"",
           text.c_str());
    }
  }
  return seconds == 0 ? 0 : now_ns() + seconds * second_ns;
}

comm_object& group_at(MPI_Comm comm, int root, MPI_Comm* newcomm) {
  comm_object& c = intracomm_of(comm);
  check_out(newcomm, "newcomm");
  check_root(c, root);
  return c;
}

std::optional<dynamic::names_folder> folder_for(MPI_Info info) {
  return dynamic::names_folder::wanted(names_setting(), hint(info, "ompi_global_scope"));
}

boot::session& held_session(std::unique_lock<std::mutex>& held) {
  return dynamic::launcher_line(*process.runtime, held);
}

}  // namespace

int impl::Open_port(MPI_Info info, char* port_name) {
  check_out(port_name, "port_name");
  (void)hints_of(info);  // none are known
  const std::string name = dynamic::open_port_of(*process.runtime);
  SINEW_ASSERT(name.size() < MPI_MAX_PORT_NAME);
  std::memcpy(port_name, name.c_str(), name.size() + 1);
  return MPI_SUCCESS;
}

int impl::Close_port(const char* port_name) {
  dynamic::close_port(*process.runtime, text_of_port(port_name));
  return MPI_SUCCESS;
}

int impl::Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm* newcomm) {
  comm_object& c = group_at(comm, root, newcomm);
  dynamic::leaders_way way(job_participant());
  const auto find = [&] {
    const auto port = dynamic::own_port(*process.runtime, text_of_port(port_name));
    const auto link = dynamic::await_caller(*port, {deadline_by(info, 0)}, way);
    if (!link) {
      fail(MPI_ERR_PORT, "%s",
           port->closed() ? "the port has been closed while MPI_Comm_accept waited"
                          : "nobody has connected within the time of the info key \"timeout\"");
    }
    return *link;
  };
  *newcomm = adopt(connected_by(participant_of(c), comm_rank{root}, find), c);
  return MPI_SUCCESS;
}

int impl::Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                       MPI_Comm* newcomm) {
  comm_object& c = group_at(comm, root, newcomm);
  dynamic::leaders_way way(job_participant());
  const auto find = [&] {
    return dynamic::connect_to(text_of_port(port_name),
                               deadline_by(info, connect_timeout_setting()), way);
  };
  try {
    *newcomm = adopt(connected_by(participant_of(c), comm_rank{root}, find), c);
  } catch (const dynamic::failure&) {
    throw;
  } catch (const sinew::error& e) {  // the root knows more; its error is of the same class
    fail(MPI_ERR_PORT, "%s", e.what());
  }
  return MPI_SUCCESS;
}

int impl::Publish_name(const char* service_name, MPI_Info info, const char* port_name) {
  check_out(port_name, "port_name");
  const std::string key = service_key(service_name);
  const auto folder = folder_for(info);
  std::unique_lock<std::mutex> held;
  if (folder ? !folder->publish(service_name, port_name)
             : !held_session(held).publish(key, port_name)) {
    fail(MPI_ERR_SERVICE, "the service \"%s\" is published already", service_name);
  }
  return MPI_SUCCESS;
}

int impl::Unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
  check_out(port_name, "port_name");
  const std::string key = service_key(service_name);
  const auto folder = folder_for(info);
  std::unique_lock<std::mutex> held;
  if (folder ? !folder->unpublish(service_name) : !held_session(held).unpublish(key)) {
    fail(MPI_ERR_SERVICE, "the service \"%s\" is not published", service_name);
  }
  return MPI_SUCCESS;
}

/// Names that other jobs see first, then the job's own.
int impl::Lookup_name(const char* service_name, MPI_Info info, char* port_name) {
  check_out(port_name, "port_name");
  const std::string key = service_key(service_name);
  std::optional<std::string> found;
  if (const auto folder = folder_for(info)) {
    found = folder->lookup(service_name);
  }
  if (!found) {
    std::unique_lock<std::mutex> held;
    found = held_session(held).lookup(key);
  }
  if (!found || found->size() >= MPI_MAX_PORT_NAME) {
    fail(MPI_ERR_NAME, "no service \"%s\" is published", service_name);
  }
  std::memcpy(port_name, found->c_str(), found->size() + 1);
  return MPI_SUCCESS;
}

int impl::Comm_join(int fd, MPI_Comm* intercomm) {
  check_out(intercomm, "intercomm");
  *intercomm = MPI_COMM_NULL;
  boot::descriptor copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    fail(MPI_ERR_ARG, "the socket cannot be used: %s", std::strerror(errno));
  }
  comm_object& self = *process.comms[2];
  dynamic::leaders_way way(job_participant());
  const auto link = dynamic::join(std::move(copy), way);
  if (link) {  // else no connection can be had: MPI_COMM_NULL says so
    *intercomm = adopt(dynamic::connected(participant_of(self), 0, &*link, *process.job), self);
  }
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
