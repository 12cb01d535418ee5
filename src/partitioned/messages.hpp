// SPDX-License-Identifier: BSD-3-Clause
// What the two sides of partitioned messages send each other.
#pragma once

#include <cstdint>

#include "sinew/partitioned/operation.hpp"

namespace sinew::partitioned {

/// What the sender tells.
struct partition_terms {
  std::uint32_t partitions;
  std::uint32_t first_tag;  ///< the others' tags follow it, from 0 on again after the last one
  std::uint64_t bytes;      ///< of a partition
};

[[nodiscard]] inline message_tag partition_tag(std::uint32_t first,
                                               std::size_t partition) noexcept {
  return message_tag{
      static_cast<int>((first + partition) & static_cast<std::uint32_t>(p2p::max_tag.value()))};
}

/// A message that tells somebody when it has ended.
struct awaited_message : core::waiter {
  p2p::request* message = nullptr;

  /// False if it has ended already: then nobody is told.
  [[nodiscard]] bool tell_when_ended(p2p::request* m) noexcept {
    message = m;
    return m->attach(*this);
  }
  p2p::fault take(p2p::engine& from) noexcept {
    const p2p::fault f = message->outcome.error;
    from.release(message);
    return f;
  }
};

}  // namespace sinew::partitioned
