// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/listening.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/interfaces.hpp"
#include "sinew/base/random.hpp"
#include "sinew/base/system_limits.hpp"

namespace sinew::boot {
namespace {

/// So often the port that is free at the first address may be in use at another one.
constexpr int most_tries = 64;

/// One socket at that address and port; 0: any port. With errno where there is none.
descriptor listen_at(const std::string& address, int port, int backlog) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    errno = EADDRNOTAVAIL;
    return {};
  }
  descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool listens = socket && ::bind(socket.get(), found->ai_addr, found->ai_addrlen) == 0 &&
                       ::listen(socket.get(), backlog) == 0;
  const int failure = errno;
  ::freeaddrinfo(found);
  errno = failure;
  return listens ? std::move(socket) : descriptor();
}

int port_of(int socket) {
  sockaddr_storage where{};
  socklen_t length = sizeof where;
  SINEW_CHECK(::getsockname(socket, reinterpret_cast<sockaddr*>(&where), &length) == 0,
              "a socket does not tell its port", std::strerror(errno), "");
  // Both families have the port at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&where)->sin_port);
}

/// Nothing if the port is in use at one of them.
std::optional<listeners> listen_at_all(const std::vector<std::string>& addresses, int port,
                                       int backlog) {
  listeners made;
  for (const std::string& each : addresses) {
    descriptor socket = listen_at(each, port, backlog);
    if (!socket && (errno == EADDRINUSE || errno == EACCES)) {
      return std::nullopt;
    }
    SINEW_CHECK(socket || !base::is_exhausted(errno), "no socket for connections of other hosts",
                base::system_reason(errno), base::system_advice(errno));
    if (socket) {
      port = port_of(socket.get());
      made.sockets.push_back(std::move(socket));
      made.addresses.push_back(each);
    }
  }
  made.port = made.sockets.empty() ? 0 : port;
  return made;
}

}  // namespace

listeners listen_for_hosts(address_family family, std::size_t most, int backlog) {
  std::vector<std::string> addresses =
      base::reachable_addresses(base::interfaces_of_host(), base::wanted_interfaces());
  std::erase_if(addresses, [family](const std::string& each) {
    return family == address_family::ipv4 && each.find(':') != std::string::npos;
  });
  addresses.resize(std::min(addresses.size(), most));
  if (addresses.empty()) {
    return {};
  }
  const base::port_range range = base::wanted_ports();
  const int tries = range.is_any() ? most_tries : range.size();
  const int start =
      range.is_any() ? 0 : static_cast<int>(unpredictable_word() % static_cast<unsigned>(tries));
  for (int i = 0; i < tries; ++i) {
    const int port = range.is_any() ? 0 : range.first + (start + i) % tries;
    if (auto made = listen_at_all(addresses, port, backlog)) {
      return std::move(*made);
    }
  }
  SINEW_CHECK(range.is_any(), "no port of SINEW_NET_PORTS is free on this host",
              "all of " + std::to_string(range.first) + " to " + std::to_string(range.last) +
                  " are in use, or reserved for root",
              "give a longer range");
  return {};
}

}  // namespace sinew::boot
