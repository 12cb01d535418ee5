// SPDX-License-Identifier: BSD-3-Clause
// The one answer of hot calls: done, posted, or try again (and why).
#pragma once

#include <cstdint>

namespace sinew {

/// What became of an operation that may not block.
enum class outcome_code : std::uint8_t {
  done,    ///< finished before the call returned; no completion will fire
  posted,  ///< under way; the completion fires later
  retry,   ///< nothing happened; call again after progress
};

/// Why an operation must be tried again.
enum class retry_reason : std::uint8_t {
  none,
  no_slot,    ///< the peer's ring is full
  no_packet,  ///< the packet pool is empty
  no_memory,  ///< shared memory is exhausted
  busy,       ///< somebody else is inside; this context may not wait
};

/// Two bytes, passed in a register. Grade: hot.
struct [[nodiscard]] status {
  outcome_code code = outcome_code::done;
  retry_reason reason = retry_reason::none;

  [[nodiscard]] constexpr bool done() const noexcept { return code == outcome_code::done; }
  [[nodiscard]] constexpr bool posted() const noexcept { return code == outcome_code::posted; }
  [[nodiscard]] constexpr bool retry() const noexcept { return code == outcome_code::retry; }

  static constexpr status ok() noexcept { return {}; }
  static constexpr status pending() noexcept { return {outcome_code::posted, retry_reason::none}; }
  static constexpr status again(retry_reason why) noexcept { return {outcome_code::retry, why}; }
};

}  // namespace sinew
