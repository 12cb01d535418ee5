// SPDX-License-Identifier: BSD-3-Clause
// The settings of this module, read once when an endpoint is opened.
#pragma once

#include <cstdint>

namespace sinew::fabric {

/// What SINEW_FABRIC_PACKETS takes: with fewer a long message cannot stream, and an index of a
/// packet has 14 bits.
inline constexpr std::int64_t least_packets = 4;
inline constexpr std::int64_t most_packets = 16384;
static_assert(least_packets < most_packets && most_packets <= 1 << 14);

struct tuning {
  std::int64_t packets;       ///< SINEW_FABRIC_PACKETS
  std::int64_t stream_limit;  ///< SINEW_FABRIC_STREAM_LIMIT
  bool cma;                   ///< SINEW_FABRIC_CMA
};
[[nodiscard]] tuning current_tuning();

}  // namespace sinew::fabric
