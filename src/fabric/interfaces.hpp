// Which of this host's network interfaces carry messages between hosts: UCX takes all that have an
// address, those among them that other hosts cannot reach.
#pragma once

#include <string>
#include <vector>

namespace sinew::fabric {

struct interface {
  std::string name;
  bool loopback = false;
  /// A bridge without a port that is a device: of containers or virtual machines on this host.
  bool inner_bridge = false;
};

/// Those that are up and have an IPv4 address, in the system's order. Cold.
[[nodiscard]] std::vector<interface> interfaces_of_host();

/// Names, in the order of `there`. `wanted` is "auto": all but loopback and inner bridges, unless
/// there are only such; "a,b": these; "^a,b": as auto, but not these. Throws sinew::error if a
/// wanted one is not there, or nothing is left. Pure; cold.
[[nodiscard]] std::vector<std::string> choose_interfaces(const std::vector<interface>& there,
                                                         const std::string& wanted);

/// What UCX calls the chosen ones and the adapters of this host that are active, joined by commas.
/// Empty: there are none, and UCX is to say so. Cold.
[[nodiscard]] std::string network_devices(const std::string& wanted);

}  // namespace sinew::fabric
