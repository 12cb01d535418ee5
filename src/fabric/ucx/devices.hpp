// SPDX-License-Identifier: BSD-3-Clause
// The devices between hosts, as UCX names them.
#pragma once

#include <string>

namespace sinew::fabric {

struct network_devices {
  /// The interfaces with IPv4 that are chosen and the adapters of this host that are active, joined
  /// by commas. Empty: there are none, and UCX is to say so.
  std::string names;
  /// One of them could carry a message now. UCX does not even open an interface without a carrier.
  bool carrier = true;
};
/// `wanted` as for base::choose_interfaces(). Throws sinew::error if a wanted one is not there.
/// Cold.
[[nodiscard]] network_devices find_devices(const std::string& wanted);

}  // namespace sinew::fabric
