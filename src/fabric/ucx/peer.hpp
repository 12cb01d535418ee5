// SPDX-License-Identifier: BSD-3-Clause
// What an endpoint keeps of a rank that it talks to. Made at the first message.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "fabric/ucx/packets.hpp"

namespace sinew::fabric::ucx {

/// Counts are modulo 2^32. Under the endpoint's lock, but for what says otherwise.
struct peer {
  ucx_endpoint* home = nullptr;
  job_rank rank = no_job_rank;
  ucp_ep_h way = nullptr;      ///< null until we send something
  ucs_status_t lost = UCS_OK;  ///< why it cannot be reached any more
  bool given_up = false;       ///< it has died

  std::uint32_t sent = 0;          ///< number of the next message to it
  std::uint32_t acknowledged = 0;  ///< of the places before, how many it has handled
  outgoing* batch = nullptr;       ///< what is gathered for it; it gets a number when it goes
  bool recent = false;             ///< listed among those to whom we have sent
  std::uint32_t alone = 0;         ///< how many went by themselves since the last progress()
  std::uint32_t puts_sent = 0;
  std::uint32_t puts_acknowledged = 0;
  std::uint32_t puts_done = 0;  ///< of its puts, those that are in our memory
  std::uint32_t reported_puts = 0;
  bool report_due = false;  ///< listed among those who are sent our counts

  // Each written by one side and a hint to the other, so relaxed: a report with an older count is
  // followed by another.
  /// Of its messages' places, those it knows to be handled: written under the lock.
  std::atomic<std::uint32_t> reported{0};
  /// Of its messages' places, those that we have handled: written by the thread that makes
  /// progress.
  std::atomic<std::uint32_t> consumed{0};

  // Of the thread that makes progress.
  std::uint32_t expected = 0;  ///< number of the message that is handled next
  bool listed = false;         ///< among those with something to handle
  /// What has arrived, by its number modulo the window: nobody sends more before we have reported
  /// that the first are handled, so each has a place of its own.
  std::array<incoming*, window> arrived{};

  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
    return window - (sent - acknowledged) >= places_of(bytes);
  }
  [[nodiscard]] incoming*& place_of(std::uint32_t number) noexcept {
    return arrived[number % window];
  }
  [[nodiscard]] std::uint32_t unreported() const noexcept {
    return consumed.load(std::memory_order_relaxed) - reported.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool has_next() const noexcept { return arrived[expected % window] != nullptr; }
};
static_assert((window & (window - 1)) == 0, "numbers wrap around within the window");

/// Whether count `a` is later than `b`.
[[nodiscard]] inline bool later(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) > 0;
}

}  // namespace sinew::fabric::ucx
