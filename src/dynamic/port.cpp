// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/dynamic/port.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string_view>

#include "sinew/base/build_id.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/random.hpp"
#include "sinew/boot/listening.hpp"
#include "sinew/dynamic/failure.hpp"

namespace sinew::dynamic {
namespace {

constexpr int backlog = SOMAXCONN;
constexpr std::size_t most_addresses = 8;
/// A host that does not answer is not waited for any longer.
constexpr int connect_ms = 3'000;
/// Who has called says who it is within this time, while somebody listens.
constexpr std::int64_t silence_ns = 1'000'000'000;
/// More wait in the sockets' queues: connections are files.
constexpr std::size_t most_callers = 256;
/// A queue that is full is tried again.
constexpr std::int64_t busy_pause_ns = 20'000'000;

/// A node, until it starts anew; 0 if that cannot be known.
std::uint64_t this_machine() {
  char id[64] = {};
  boot::descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  const ssize_t n = file ? ::read(file.get(), id, sizeof id - 1) : 0;
  return n > 0 ? std::hash<std::string_view>()({id, static_cast<std::size_t>(n)}) : 0;
}

/// In Linux's abstract space: nothing is left behind.
struct local_address {
  sockaddr_un at{};
  socklen_t length = 0;
  explicit local_address(const std::string& name) {
    SINEW_EXPECT(name.size() < sizeof at.sun_path);
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path + 1, name.data(), name.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&at); }
};

[[noreturn]] void no_socket() {
  throw error("cannot open a port", std::strerror(errno),
              "raise the limit of open files (ulimit -n)");
}

boot::descriptor new_socket(int family) {
  return boot::descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// The user behind a socket of this node; nobody's number if that cannot be known.
uid_t user_of(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0
             ? peer.uid
             : static_cast<uid_t>(-1);
}

bool becomes(int socket, short what, int timeout_ms) {
  pollfd one{socket, what, 0};
  // Wait: bounded.
  return ::poll(&one, 1, timeout_ms) > 0;
}

}  // namespace

std::string port_name::text() const {
  char words[256];
  std::snprintf(words, sizeof words,
                "sinew:2:%016" PRIx64 ":%d:%d:%016" PRIx64 "%016" PRIx64 ":%016" PRIx64 ":%d:", job,
                owner, number, secret[0], secret[1], machine, tcp_port);
  return words + addresses;
}

std::optional<port_name> port_name::parse(const std::string& text) {
  port_name p;
  char list[256] = {};
  const int read = std::sscanf(
      text.c_str(), "sinew:2:%16" SCNx64 ":%d:%d:%16" SCNx64 "%16" SCNx64 ":%16" SCNx64 ":%d:%255s",
      &p.job, &p.owner, &p.number, &p.secret[0], &p.secret[1], &p.machine, &p.tcp_port, list);
  p.addresses = list;
  const bool good = read >= 7 && p.owner >= 0 && p.number > 0 && p.tcp_port >= 0 &&
                    p.tcp_port < 65536 && p.text() == text;
  return good ? std::optional(p) : std::nullopt;
}

std::string port_name::local_socket() const {
  // Others can list these names, so it tells nothing of the secret.
  std::uint64_t state = job ^ machine ^ secret[1];
  char name[64];
  std::snprintf(name, sizeof name, "sinew-port-%d-%d-%016" PRIx64, owner, number, split_mix(state));
  return name;
}

bool socket_talk::send(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket_.get(), at, bytes, MSG_NOSIGNAL);
    if (sent > 0) {
      at += sent;
      bytes -= static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      late_ = deadline_ns_ != 0 && now_ns() >= deadline_ns_;
      if (late_) {
        return false;
      }
      (void)becomes(socket_.get(), POLLOUT, 10);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool socket_talk::receive(void* data, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(data);
  while (bytes > 0) {
    // Wait: none here; wait_until() below makes progress meanwhile.
    const ssize_t got = ::recv(socket_.get(), at, bytes, MSG_DONTWAIT);
    if (got > 0) {
      at += got;
      bytes -= static_cast<std::size_t>(got);
    } else if (got < 0 && errno == EAGAIN) {
      const core::awaits_outside other(engine_->runtime());
      engine_->runtime().wait_until(
          [](void* p) {
            const auto& self = *static_cast<socket_talk*>(p);
            return becomes(self.socket_.get(), POLLIN, 0) ||
                   (self.deadline_ns_ != 0 && now_ns() >= self.deadline_ns_);
          },
          this);
      late_ = deadline_ns_ != 0 && now_ns() >= deadline_ns_ && !becomes(socket_.get(), POLLIN, 0);
      if (late_) {
        return false;
      }
    } else if (got == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::optional<core::resident> socket_talk::exchange_residents(const greeting& own,
                                                              const greeting& other) {
  if (own.job == other.job) {
    return core::resident{other.job, job_rank{other.rank}, other.tenant, {}};
  }
  std::string text;
  append(text, engine_->outside().self());
  std::uint64_t length = text.size();
  if (!send(&length, sizeof length) || !send(text.data(), text.size()) ||
      !receive(&length, sizeof length) || length > (std::uint64_t{1} << 20)) {
    return std::nullopt;
  }
  text.resize(length);
  if (!receive(text.data(), text.size())) {
    return std::nullopt;
  }
  std::string_view rest = text;
  return core::take_resident(rest);
}

greeting own_greeting(core::runtime& rt) {
  static const std::uint64_t build = std::hash<std::string_view>()(build_id);
  greeting g;
  g.build = build;
  g.job = core::name_of_job(rt);
  g.rank = rt.rank().value();
  g.tenant = core::own_tenant(rt);
  return g;
}

std::shared_ptr<open_port> open_port::open(core::runtime& rt, int number) {
  SINEW_EXPECT(number > 0);
  auto made = std::make_shared<open_port>(rt);
  port_name& name = made->name_;
  name.job = core::name_of_job(rt);
  name.owner = rt.rank().value();
  name.number = number;
  name.secret[0] = unpredictable_word();
  name.secret[1] = unpredictable_word();
  name.machine = this_machine();
  boot::descriptor local = new_socket(AF_UNIX);
  const local_address here(name.local_socket());
  if (!local || ::bind(local.get(), here.get(), here.length) != 0 ||
      ::listen(local.get(), backlog) != 0) {
    no_socket();
  }
  // Without a network this node's ranks can still use it.
  boot::listeners remote =
      boot::listen_for_hosts(boot::address_family::ipv4, most_addresses, backlog);
  name.tcp_port = remote.port;
  name.addresses = base::join(remote.addresses, ',');
  made->listeners_ = std::move(remote.sockets);
  made->listeners_.push_back(std::move(local));
  return made;
}

void open_port::close() noexcept {
  closed_.store(true, std::memory_order_release);
  for (const boot::descriptor& each : listeners_) {
    (void)::shutdown(each.get(), SHUT_RDWR);
  }
}

void open_port::accept_callers() {
  for (const boot::descriptor& each : listeners_) {
    const bool local = &each == &listeners_.back();
    while (callers_.size() < most_callers) {
      boot::descriptor socket(  // Wait: none; the listener is nonblocking
          ::accept4(each.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) {
        break;
      }
      if (local && user_of(socket.get()) != ::geteuid()) {
        greeting no = own_greeting(rt_);
        no.refused = 1;
        (void)::send(socket.get(), &no, sizeof no, MSG_NOSIGNAL);
        continue;
      }
      callers_.push_back({{std::move(socket), {}}, 0, now_ns()});
    }
  }
}

/// Reads on; false if it is nobody that could be let in.
bool open_port::hear(waiting_caller& from) const {
  if (from.heard == sizeof(greeting)) {
    return true;
  }
  auto* const said = reinterpret_cast<std::byte*>(&from.caller.said);
  const ssize_t got =  // Wait: none
      ::recv(from.caller.socket.get(), said + from.heard, sizeof(greeting) - from.heard,
             MSG_DONTWAIT);
  if (got <= 0) {
    return got < 0 && errno == EAGAIN && now_ns() - from.since_ns < silence_ns;
  }
  from.heard += static_cast<std::size_t>(got);
  return from.heard < sizeof(greeting) ||
         std::memcmp(from.caller.said.secret, name_.secret, sizeof name_.secret) == 0;
}

std::optional<port_caller> open_port::next_caller() {
  const std::lock_guard held(lock_);
  accept_callers();
  std::erase_if(callers_, [this](waiting_caller& each) { return !hear(each); });
  const auto first = std::find_if(callers_.begin(), callers_.end(), [](const waiting_caller& each) {
    return each.heard == sizeof(greeting);
  });
  if (first == callers_.end()) {
    return std::nullopt;
  }
  std::optional<port_caller> found(std::move(first->caller));
  callers_.erase(first);
  return found;
}

bool patience::ends() const {
  return (deadline_ns != 0 && now_ns() >= deadline_ns) || (over != nullptr && over(context));
}

std::optional<port_caller> open_port::wait_for_caller(const patience& until) {
  struct search {
    open_port& port;
    const patience& until;
    std::optional<port_caller> found = std::nullopt;
  } s{*this, until};
  const core::awaits_outside other(rt_);
  rt_.wait_until(
      [](void* p) {
        auto& wanted = *static_cast<search*>(p);
        if (!wanted.port.closed()) {
          wanted.found = wanted.port.next_caller();
        }
        return wanted.found || wanted.port.closed() || wanted.until.ends();
      },
      &s);
  return std::move(s.found);
}

namespace {

/// What one try comes to: a socket, or whether another one may help.
struct call_result {
  boot::descriptor socket = {};
  bool busy = false;  // nobody has answered, but somebody may listen
};

call_result call_on_this_node(const port_name& name) {
  boot::descriptor socket = new_socket(AF_UNIX);
  const local_address at(name.local_socket());
  if (!socket) {
    no_socket();
  }
  if (::connect(socket.get(), at.get(), at.length) != 0) {
    return {{}, errno == EAGAIN};  // its queue of callers is full
  }
  if (const uid_t other = user_of(socket.get()); other != ::geteuid()) {
    throw failure(error_kind::port, "the port belongs to the user with number " +
                                        std::to_string(other) + "; only jobs of one user connect");
  }
  return {std::move(socket)};
}

call_result call_over_the_network(const port_name& name) {
  call_result result;
  std::string_view rest = name.addresses;
  while (!rest.empty() && name.tcp_port != 0) {
    const std::string one(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(name.tcp_port));
    boot::descriptor socket = new_socket(AF_INET);
    if (!socket) {
      no_socket();
    }
    if (::inet_pton(AF_INET, one.c_str(), &at.sin_addr) != 1) {
      continue;
    }
    const int begun = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at);
    int problem = begun == 0 ? 0 : errno;
    if (problem == EINPROGRESS && becomes(socket.get(), POLLOUT, connect_ms)) {
      socklen_t length = sizeof problem;
      (void)::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &length);
    }
    if (problem == 0) {
      return {std::move(socket)};
    }
    // A host whose queue is full does not answer, as one that is down.
    result.busy = result.busy || problem == EINPROGRESS || problem == ETIMEDOUT;
  }
  return result;
}

call_result call_once(const port_name& name) {
  call_result near;
  if (name.machine == this_machine()) {
    near = call_on_this_node(name);  // not there: perhaps it is another container's
  }
  if (near.socket) {
    return near;
  }
  call_result far = call_over_the_network(name);
  far.busy = far.busy || near.busy;
  return far;
}

}  // namespace

boot::descriptor call_port(core::runtime& rt, const port_name& name, std::int64_t deadline_ns) {
  for (;;) {
    call_result result = call_once(name);
    if (result.socket || !result.busy) {
      return std::move(result.socket);
    }
    std::int64_t next = now_ns() + busy_pause_ns;
    if (deadline_ns != 0 && next >= deadline_ns) {
      throw failure(error_kind::port,
                    "nobody has answered at the port in time: no rank is in MPI_Comm_accept there "
                    "and too many have called, or its host is down or behind a firewall");
    }
    const core::awaits_outside other(rt);
    rt.wait_until([](void* until) { return now_ns() >= *static_cast<const std::int64_t*>(until); },
                  &next);
  }
}

}  // namespace sinew::dynamic
