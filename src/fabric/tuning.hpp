// The settings of this room, read once when an endpoint is opened.
#pragma once

#include <cstdint>

namespace sinew::fabric {

struct tuning {
  std::int64_t packets;       ///< SINEW_FABRIC_PACKETS
  std::int64_t stream_limit;  ///< SINEW_FABRIC_STREAM_LIMIT
  bool cma;                   ///< SINEW_FABRIC_CMA
};
[[nodiscard]] tuning current_tuning();

}  // namespace sinew::fabric
