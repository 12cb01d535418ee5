// SPDX-License-Identifier: BSD-3-Clause
// Which of this host's network interfaces other hosts are reached by, and at which ports we listen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinew::base {

struct network_interface {
  std::string name;
  bool loopback = false;
  /// A bridge without a port that is a device: of containers or virtual machines on this host.
  bool inner_bridge = false;
  /// IPv4 and IPv6, numeric; without those of one link only, which mean nothing to another host.
  std::vector<std::string> addresses = {};
  bool has_ipv4 = true;
  bool has_carrier = true;
};

/// Those that are up and have an address, in the system's order. Throws sinew::error where no files
/// or memory are left to ask. Cold.
[[nodiscard]] std::vector<network_interface> interfaces_of_host();

/// Names, in the order of `there`. `wanted` is "auto": all but loopback and inner bridges, unless
/// there are only such; "a,b": these; "^a,b": as auto, but not these. Throws sinew::error if a
/// wanted one is not there, or nothing is left. Pure; cold.
[[nodiscard]] std::vector<std::string> choose_interfaces(
    const std::vector<network_interface>& there, const std::string& wanted);

/// Addresses by which other hosts may reach this one: those of the interfaces that `wanted` chooses
/// and that have a carrier, never loopback. Here a name that is not there is one of another host's:
/// it chooses nothing. Pure; cold.
[[nodiscard]] std::vector<std::string> reachable_addresses(
    const std::vector<network_interface>& there, const std::string& wanted);

/// SINEW_NET_INTERFACES.
[[nodiscard]] const std::string& wanted_interfaces();

/// Both included; 0 to 0: whichever port is free.
struct port_range {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  [[nodiscard]] bool is_any() const noexcept { return first == 0; }
  [[nodiscard]] int size() const noexcept { return last - first + 1; }
};
/// "5000-5100", "5000" or "auto". Throws sinew::error. Pure; cold.
[[nodiscard]] port_range parse_ports(const std::string& text);
/// SINEW_NET_PORTS. Throws sinew::error.
[[nodiscard]] port_range wanted_ports();

}  // namespace sinew::base
