// The sockets of a greeting: where the launcher listens, and how a daemon calls it.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/run/greeting.hpp"

namespace sinew::tool {
namespace {

constexpr int call_ms = 1000;
constexpr std::int64_t all_calls_ns = 3'000'000'000;

bool numeric_address(const sockaddr* address, std::array<char, 64>& text) {
  const socklen_t length =
      address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return ::getnameinfo(address, length, text.data(), static_cast<socklen_t>(text.size()), nullptr,
                       0, NI_NUMERICHOST) == 0;
}

// All of `bytes` within a second, or false.
bool receive_all(int socket, void* bytes, std::size_t size) {
  auto* to = static_cast<char*>(bytes);
  while (size > 0) {
    pollfd asked{socket, POLLIN, 0};
    // Wait: at most a second for a launcher that has accepted.
    if (::poll(&asked, 1, call_ms) <= 0) {
      return false;
    }
    const ssize_t got = ::recv(socket, to, size, MSG_DONTWAIT);
    if (got <= 0) {
      return false;
    }
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

boot::descriptor connect_to(const std::string& address, int port) {
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
    pollfd asked{socket.get(), POLLOUT, 0};
    int failure = 0;
    socklen_t length = sizeof failure;
    // Wait: at most a second for one address.
    connected = ::poll(&asked, 1, call_ms) == 1 &&
                ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &length) == 0 &&
                failure == 0;
  }
  ::freeaddrinfo(found);
  return connected ? std::move(socket) : boot::descriptor();
}

bool greet(int socket, const greeting& by) {
  std::uint64_t theirs = 0;
  if (!receive_all(socket, &theirs, sizeof theirs)) {
    return false;
  }
  const daemon_proof mine = prove_daemon(by.secret, theirs, random_number(), by.node);
  std::uint64_t proof = 0;
  return ::send(socket, &mine, sizeof mine, MSG_NOSIGNAL) == sizeof mine &&
         receive_all(socket, &proof, sizeof proof) &&
         proof == prove_launcher(by.secret, theirs, mine.challenge);
}

}  // namespace

listener listen_for_daemons() {
  listener result;
  for (const int family : {AF_INET6, AF_INET}) {
    boot::descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_storage where{};
    where.ss_family = static_cast<sa_family_t>(family);  // every address, any port
    socklen_t length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    const int off = 0;
    if (!socket ||
        (family == AF_INET6 &&
         ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&where), length) != 0 ||
        ::listen(socket.get(), SOMAXCONN) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&where), &length) != 0) {
      continue;
    }
    // Both families have the port at the same place.
    result.port = ntohs(reinterpret_cast<const sockaddr_in*>(&where)->sin_port);
    result.socket = std::move(socket);
    SINEW_ENSURE(result.port > 0);
    return result;
  }
  return result;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> result;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return result;
  }
  constexpr unsigned up = IFF_UP | IFF_RUNNING;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    std::array<char, 64> text{};
    const bool wanted =
        each->ifa_addr != nullptr && (each->ifa_flags & up) == up &&
        (each->ifa_flags & IFF_LOOPBACK) == 0 &&
        (each->ifa_addr->sa_family == AF_INET || each->ifa_addr->sa_family == AF_INET6);
    // An address of one link only ("%eth0") means nothing to another machine.
    if (wanted && numeric_address(each->ifa_addr, text) &&
        std::strchr(text.data(), '%') == nullptr) {
      result.emplace_back(text.data());
    }
  }
  ::freeifaddrs(all);
  return result;
}

void tune_connection(int socket) noexcept {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // After a short cut of the network the next try comes soon instead of after ever longer pauses.
  ::setsockopt(socket, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof on);
}

boot::descriptor call_launcher(const greeting& by) {
  const std::int64_t until = now_ns() + all_calls_ns;
  for (const std::string& each : by.addresses) {
    boot::descriptor socket;
    if (by.port != 0 && now_ns() < until) {
      socket = connect_to(each, by.port);
    }
    if (socket && greet(socket.get(), by)) {
      tune_connection(socket.get());
      return socket;
    }
  }
  return {};
}

}  // namespace sinew::tool
