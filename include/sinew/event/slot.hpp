// SPDX-License-Identifier: BSD-3-Clause
// One slot of a rank's graph of events. Private to the module; it stands here only because
// system::look() reads a slot's generation inline.
#pragma once

#include <atomic>
#include <cstdint>

#include "sinew/event/waiter.hpp"

namespace sinew::event::detail {

/// The storage of one pending event. Changed under the rank's lock, but for `generation`.
struct slot {
  /// Of the event that is pending or will be next: an event of an earlier one has triggered.
  /// Raised (release) when an event triggers, after its poison is recorded; read by any thread
  /// (acquire), so whoever sees the event triggered sees what its trigger was to publish.
  std::atomic<std::uint32_t> generation;
  std::uint32_t remaining;    ///< inputs that have not triggered; see graph::poisoned_early, too
  waiter* waiters;            ///< the last of a ring
  std::uint32_t first;        ///< a slot that has this one as input; 0: none
  std::uint32_t more;         ///< further ones: a list of number_lists; 0: none
  std::uint32_t subscribers;  ///< other ranks that want to know: a word of the peer table; 0: none
  std::uint32_t link;         ///< the next slot in the queue or in the free list, and six flags
};
static_assert(sizeof(slot) == 32, "two slots to a cache line; system.hpp promises 32 bytes");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace sinew::event::detail
