// MPI-5.0 sections 11.8 to 11.10: groups of one job or of several that meet at a port, under a
// published name or by a socket.
#include "abi/mpi/ports.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/intercomm.hpp"
#include "abi/mpi/published_names.hpp"
#include "abi/mpi/settings.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"

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

constexpr std::int64_t second_ns = 1'000'000'000;
/// Who has called must say all it has to say within this time; the port is for others, too.
constexpr std::int64_t talk_ns = 10 * second_ns;

std::string service_key(const char* name) {
  check_out(name, "service_name");
  return std::string("service ") + name;
}

/// Ports that this rank has open.
struct port_table {
  std::mutex lock;
  std::map<std::string, std::shared_ptr<open_port>> open;
};
port_table& ports() {
  static auto& it = *new port_table;
  return it;
}

port_name name_of_port(const char* text) {
  check_out(text, "port_name");
  const std::string whole(text, ::strnlen(text, MPI_MAX_PORT_NAME - 1));
  const std::optional<port_name> name = port_name::parse(whole);
  if (!name) {
    fail(MPI_ERR_PORT, "\"%s\" is no name of a port", whole.c_str());
  }
  return *name;
}

bool is_own(const port_name& name) {
  return name.job == core::name_of_job(*process.runtime) &&
         name.owner == process.runtime->rank().value();
}

std::shared_ptr<open_port> own_port(const char* text) {
  const port_name name = name_of_port(text);
  if (!is_own(name)) {
    fail(MPI_ERR_PORT, "the port was opened by rank %d of %s job, and is for it to use", name.owner,
         name.job == core::name_of_job(*process.runtime) ? "this" : "another");
  }
  port_table& all = ports();
  const std::lock_guard held(all.lock);
  const auto found = all.open.find(name.text());
  if (found == all.open.end()) {
    fail(MPI_ERR_PORT, "the port \"%s\" is not open", text);
  }
  return found->second;
}

/// What the info's "timeout" says, in seconds; else `usual`. 0: no end.
std::int64_t deadline_by(MPI_Info info, std::int64_t usual) {
  const std::string text = info == MPI_INFO_NULL ? std::string() : info_of(info).value("timeout");
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

bool understands(const greeting& g) {
  const greeting own = own_greeting();
  return std::memcmp(g.magic, own.magic, sizeof g.magic) == 0 && g.build == own.build;
}

/// One who has called: nothing if it is nobody that could be connected, and the next one is due.
std::optional<coll::leaders_link> answer(boot::descriptor socket, const open_port& port,
                                         leaders_way& way) {
  socket_talk talk(std::move(socket), now_ns() + talk_ns);
  greeting theirs;
  greeting own = own_greeting();
  if (!talk.receive(&theirs, sizeof theirs) ||
      std::memcmp(theirs.secret, port.name().secret, sizeof theirs.secret) != 0) {
    return std::nullopt;
  }
  own.refused = understands(theirs) ? 0 : 1;
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

}  // namespace

coll::leaders_link leaders_way::to(const core::resident& other, message_tag tag, bool first) {
  core::runtime& rt = *process.runtime;
  if (other.job == core::name_of_job(rt)) {
    SINEW_ASSERT(other.rank.below(rt.reach()));
    process.engine->meet(other.rank, other.tenant);
    return {*process.job, comm_rank{other.rank.value()}, tag};
  }
  const job_rank number = process.engine->outside().number_of(other);
  std::vector<job_rank> both = {rt.rank(), number};
  if (!first) {
    std::swap(both[0], both[1]);
  }
  meeting_.emplace(*process.engine, core::group(std::move(both)), tag);
  return {meeting_->comm(), comm_rank{first ? 1 : 0}, tag};
}

std::optional<coll::leaders_link> await_caller(open_port& port, const patience& until,
                                               leaders_way& way) {
  for (;;) {
    boot::descriptor socket = port.wait_for_caller(until);
    if (!socket) {
      return std::nullopt;
    }
    if (auto link = answer(std::move(socket), port, way)) {
      return link;
    }
  }
}

coll::leaders_link connect_to(const char* text, std::int64_t deadline_ns, leaders_way& way) {
  const port_name name = name_of_port(text);
  if (is_own(name)) {
    fail(MPI_ERR_PORT, "the port \"%s\" is this rank's own", text);
  }
  socket_talk talk(call_port(name), deadline_ns);
  greeting own = own_greeting();
  std::memcpy(own.secret, name.secret, sizeof own.secret);
  own.number = next_number();
  greeting theirs;
  const bool heard = talk.send(&own, sizeof own) && talk.receive(&theirs, sizeof theirs);
  if (!heard && talk.late()) {
    fail(MPI_ERR_PORT,
         "nobody has accepted at the port in time: no rank is in MPI_Comm_accept there (set "
         "SINEW_MPI_CONNECT_TIMEOUT or the info key \"timeout\" to wait longer)");
  }
  if (!heard || theirs.refused != 0 || !understands(theirs)) {
    fail(MPI_ERR_PORT, "%s",
         !heard                ? "the port has been closed, or its owner has ended"
         : understands(theirs) ? "the port's owner refuses this rank: it belongs to another user"
                               : "the port's owner runs another build of Sinew");
  }
  const std::optional<core::resident> other = talk.exchange_residents(own, theirs);
  const char over = 1;
  if (!other || !talk.send(&over, 1)) {
    fail(MPI_ERR_PORT, "the port's owner has ended while it accepted");
  }
  return way.to(*other, tag_of_connection(own.rank, own.number), false);
}

int impl::Open_port(MPI_Info info, char* port_name) {
  check_out(port_name, "port_name");
  if (info != MPI_INFO_NULL) {
    (void)info_of(info);  // no hints are known
  }
  std::shared_ptr<open_port> made = open_port::open(next_number());
  const std::string name = made->name().text();
  SINEW_ASSERT(name.size() < MPI_MAX_PORT_NAME);
  port_table& all = ports();
  const std::lock_guard held(all.lock);
  all.open.emplace(name, std::move(made));
  std::memcpy(port_name, name.c_str(), name.size() + 1);
  return MPI_SUCCESS;
}

int impl::Close_port(const char* port_name) {
  const std::shared_ptr<open_port> port = own_port(port_name);
  port->close();
  port_table& all = ports();
  const std::lock_guard held(all.lock);
  all.open.erase(port->name().text());
  return MPI_SUCCESS;
}

int impl::Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm* newcomm) {
  comm_object& c = group_at(comm, root, newcomm);
  leaders_way way;
  const auto find = [&] {
    const std::shared_ptr<open_port> port = own_port(port_name);
    const auto link = await_caller(*port, {deadline_by(info, 0)}, way);
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
  leaders_way way;
  const auto find = [&] {
    return connect_to(port_name, deadline_by(info, connect_timeout_setting()), way);
  };
  try {
    *newcomm = adopt(connected_by(participant_of(c), comm_rank{root}, find), c);
  } catch (const sinew::error& e) {  // the root knows more; its error is of the same class
    fail(MPI_ERR_PORT, "%s", e.what());
  }
  return MPI_SUCCESS;
}

namespace {

std::optional<names_folder> folder_for(MPI_Info info) {
  return names_folder::wanted(info == MPI_INFO_NULL ? std::string()
                                                    : info_of(info).value("ompi_global_scope"));
}

}  // namespace

int impl::Publish_name(const char* service_name, MPI_Info info, const char* port_name) {
  check_out(port_name, "port_name");
  const std::string key = service_key(service_name);
  const std::optional<names_folder> folder = folder_for(info);
  std::unique_lock<std::mutex> held;
  if (folder ? !folder->publish(service_name, port_name)
             : !launcher_line(held).publish(key, port_name)) {
    fail(MPI_ERR_SERVICE, "the service \"%s\" is published already", service_name);
  }
  return MPI_SUCCESS;
}

int impl::Unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
  check_out(port_name, "port_name");
  const std::string key = service_key(service_name);
  const std::optional<names_folder> folder = folder_for(info);
  std::unique_lock<std::mutex> held;
  if (folder ? !folder->unpublish(service_name) : !launcher_line(held).unpublish(key)) {
    fail(MPI_ERR_SERVICE, "the service \"%s\" is not published", service_name);
  }
  return MPI_SUCCESS;
}

/// Names that other jobs see first, then the job's own.
int impl::Lookup_name(const char* service_name, MPI_Info info, char* port_name) {
  check_out(port_name, "port_name");
  const std::string key = service_key(service_name);
  std::optional<std::string> found;
  if (const std::optional<names_folder> folder = folder_for(info)) {
    found = folder->lookup(service_name);
  }
  if (!found) {
    std::unique_lock<std::mutex> held;
    found = launcher_line(held).lookup(key);
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
  // Wait: for the other side of the socket, as the call is defined to.
  boot::descriptor copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    fail(MPI_ERR_ARG, "the socket cannot be used: %s", std::strerror(errno));
  }
  socket_talk talk(std::move(copy), 0);
  greeting own = own_greeting();
  greeting other;
  own.number = next_number();
  if (!talk.send(&own, sizeof own) || !talk.receive(&other, sizeof other)) {
    fail(MPI_ERR_ARG, "the socket cannot be used: the other side has closed it");
  }
  const bool same = own.job == other.job && own.rank == other.rank && own.tenant == other.tenant;
  if (same || !understands(other)) {
    return MPI_SUCCESS;  // no connection can be had: MPI_COMM_NULL says so
  }
  const std::optional<core::resident> who = talk.exchange_residents(own, other);
  if (!who) {
    return MPI_SUCCESS;
  }
  const bool first = std::tie(own.job, own.rank) < std::tie(other.job, other.rank);
  const greeting& lower = first ? own : other;
  comm_object& self = *process.comms[2];
  leaders_way way;
  const coll::leaders_link link = way.to(*who, tag_of_connection(lower.rank, lower.number), first);
  *intercomm = adopt(connected(participant_of(self), 0, &link), self);
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
