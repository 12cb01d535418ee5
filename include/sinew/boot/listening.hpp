// SPDX-License-Identifier: BSD-3-Clause
// Where a process waits for connections from other hosts.
#pragma once

#include <string>
#include <vector>

#include "sinew/boot/descriptor.hpp"

namespace sinew::boot {

/// Nonblocking sockets that listen, one at each address, all at one port.
struct listeners {
  std::vector<descriptor> sockets;
  std::vector<std::string> addresses;
  int port = 0;
};

enum class address_family { any, ipv4 };

/// At the first `most` addresses of the interfaces that SINEW_NET_INTERFACES chooses, at a port of
/// SINEW_NET_PORTS; an address that cannot be had is left out. Without any there is no socket.
/// Throws sinew::error if no port of the range is free, or the system has no socket left. Cold.
[[nodiscard]] listeners listen_for_hosts(address_family family, std::size_t most, int backlog);

}  // namespace sinew::boot
