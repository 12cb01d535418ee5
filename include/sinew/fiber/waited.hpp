// SPDX-License-Identifier: BSD-3-Clause
// How a wait ended that may end without what it was for.
#pragma once

#include <cstdint>

namespace sinew::fiber {

enum class waited : std::uint8_t {
  done,       ///< it has come
  timed_out,  ///< the deadline was first
  cancelled,  ///< the calling fiber has been cancelled: see cancel()
  closed      ///< it will never come: the channel is closed
};

}  // namespace sinew::fiber
