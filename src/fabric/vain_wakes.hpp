// SPDX-License-Identifier: BSD-3-Clause
// How long a descriptor is left alone that keeps waking a sleeper for nothing.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sinew/base/check.hpp"

namespace sinew::fabric {

/// The event descriptor of a network's library may stay readable with nothing to do: UCX's does
/// while two ranks that have connected to each other wait for one of them to give way. Whoever
/// sleeps on it would go round at full speed, and on a busy machine keep the processor from the
/// very process that it waits for. So only the first wake in vain is free. One thread.
class vain_wakes {
 public:
  static constexpr std::uint64_t shortest_ns = 50'000;
  static constexpr std::uint64_t longest_ns = 1'000'000;

  /// Before a sleep: whether the descriptor has ended the last one, and how much has happened in
  /// all. How long to sleep without the descriptor. Warm.
  [[nodiscard]] std::uint64_t pause_ns(bool woken, std::uint64_t happened) noexcept {
    in_a_row_ = woken && happened == before_ ? std::min(in_a_row_ + 1, enough) : 0;
    before_ = happened;
    const std::uint64_t pause =
        in_a_row_ < 2 ? 0 : std::min(shortest_ns << (in_a_row_ - 2), longest_ns);
    SINEW_ENSURE(pause <= longest_ns);
    return pause;
  }

 private:
  static constexpr unsigned enough = 8;  ///< then the pause is the longest
  std::uint64_t before_ = 0;
  unsigned in_a_row_ = 0;
};

}  // namespace sinew::fabric
