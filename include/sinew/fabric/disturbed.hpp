// SPDX-License-Identifier: BSD-3-Clause
// An endpoint that behaves as badly as the contract allows, for tests: by a seed.
#pragma once

#include <cstdint>
#include <memory>

#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric {

/// Chances in 256.
struct disturbance {
  std::uint64_t seed = 1;
  unsigned refused = 24;   ///< a call answers `retry` although it could be done
  unsigned delayed = 48;   ///< a message is held back, with all that follow it to the same rank
  unsigned released = 96;  ///< per round of progress: what is held back for a rank goes on
  /// After so many messages this process kills itself; 0: never.
  std::uint64_t dies_after = 0;
};

/// Goes over `inner`: the order between two ranks is kept, that between pairs is not, and any call
/// may have to be repeated. Calls from inside handlers are never refused without cause. Allocates,
/// and takes a lock for each message. Cold.
[[nodiscard]] std::unique_ptr<endpoint> disturb(std::unique_ptr<endpoint> inner,
                                                const disturbance& how);

/// SINEW_FABRIC_DISTURB: the seed by which the endpoints of this job are disturbed; 0: they are
/// not. Cold.
[[nodiscard]] std::uint64_t disturbance_seed();

}  // namespace sinew::fabric
