// SPDX-License-Identifier: BSD-3-Clause
// The sockets of a greeting: whose ends they have, and how a daemon calls its launcher.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "sinew/base/clock.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/greeting.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t call_ns = second_ns;  // for one address
constexpr std::int64_t all_calls_ns = 3 * second_ns;

// All of `bytes` before `until_ns`, or false.
bool receive_all(int socket, void* bytes, std::size_t size, std::int64_t until_ns) {
  auto* to = static_cast<char*>(bytes);
  while (size > 0 && wait_ready(socket, POLLIN, until_ns)) {
    const ssize_t got = ::recv(socket, to, size, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      return false;
    }
    to += std::max<ssize_t>(got, 0);
    size -= static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  return size == 0;
}

boot::descriptor connect_to(const std::string& address, int port, std::int64_t until_ns) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return {};
  }
  boot::descriptor socket(
      ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  bool connected = socket && ::connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0;
  if (socket && !connected && errno == EINPROGRESS) {
    int failure = 0;
    socklen_t length = sizeof failure;
    connected = wait_ready(socket.get(), POLLOUT, until_ns) &&
                ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &length) == 0 &&
                failure == 0;
  }
  ::freeaddrinfo(found);
  return connected ? std::move(socket) : boot::descriptor();
}

std::optional<connection_keys> greet(int socket, const greeting& by, std::int64_t until_ns) {
  secret_bytes challenge;
  secret_bytes proof;
  const auto near = near_end(socket);
  const auto far = far_end(socket);
  if (!near || !far || !receive_all(socket, &challenge, sizeof challenge, until_ns)) {
    return std::nullopt;
  }
  const daemon_claim claim{random_secret(), static_cast<std::uint32_t>(by.node), {*far, *near}};
  const daemon_proof own = prove_daemon(by.secret, challenge, claim);
  if (::send(socket, &own, sizeof own, MSG_NOSIGNAL) != sizeof own ||
      !receive_all(socket, &proof, sizeof proof, until_ns) ||
      !is_same(proof, prove_launcher(by.secret, challenge, claim))) {
    return std::nullopt;
  }
  return keys_of(by.secret, challenge, claim);
}

socket_end end_of(const sockaddr_storage& where) {
  socket_end end;
  if (where.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(where);
    end.address[10] = end.address[11] = 0xff;
    std::memcpy(end.address.data() + 12, &four.sin_addr, 4);
    end.port = ntohs(four.sin_port);
  } else {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(where);
    std::memcpy(end.address.data(), &six.sin6_addr, 16);
    end.port = ntohs(six.sin6_port);
  }
  return end;
}

std::optional<socket_end> end_by(int (*ask)(int, sockaddr*, socklen_t*) noexcept, int socket) {
  sockaddr_storage where{};
  socklen_t length = sizeof where;
  return ask(socket, reinterpret_cast<sockaddr*>(&where), &length) == 0
             ? std::optional(end_of(where))
             : std::nullopt;
}

}  // namespace

std::optional<socket_end> near_end(int socket) { return end_by(::getsockname, socket); }

std::optional<socket_end> far_end(int socket) { return end_by(::getpeername, socket); }

std::string text(const socket_end& end) {
  in6_addr address{};
  std::memcpy(&address, end.address.data(), sizeof address);
  char words[INET6_ADDRSTRLEN] = {};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    ::inet_ntop(AF_INET, end.address.data() + 12, words, sizeof words);
  } else {
    ::inet_ntop(AF_INET6, &address, words, sizeof words);
  }
  return std::string(words) + " port " + std::to_string(end.port);
}

void tune_connection(int socket) noexcept {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // After a short cut of the network the next try comes soon instead of after ever longer pauses.
  ::setsockopt(socket, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof on);
}

std::optional<daemon_line> call_launcher(const greeting& by) {
  const std::int64_t until_ns = now_ns() + all_calls_ns;
  for (const std::string& each : by.addresses) {
    const std::int64_t own_ns = std::min(now_ns() + call_ns, until_ns);
    boot::descriptor socket;
    if (by.port != 0 && now_ns() < until_ns) {
      socket = connect_to(each, by.port, own_ns);
    }
    if (auto keys = socket ? greet(socket.get(), by, own_ns) : std::nullopt) {
      tune_connection(socket.get());
      return daemon_line{std::move(socket), {}, *keys};
    }
  }
  return std::nullopt;
}

}  // namespace sinew::tool
