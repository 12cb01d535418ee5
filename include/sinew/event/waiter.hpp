// SPDX-License-Identifier: BSD-3-Clause
// What an event fires, and the messages of the module.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/base/ids.hpp"

namespace sinew::event {

/// Derive, set `fire`. Called exactly once after the event has triggered, by whichever thread
/// caused that, in a handler of messages too: it may trigger, create, merge, subscribe and send,
/// and must neither wait nor poll. No lock is held. The waiter is no longer referred to when it is
/// called and may end in the call. Between subscribe() and the call it must not move.
struct waiter {
  void (*fire)(waiter& self) noexcept = nullptr;
  waiter* next = nullptr;  ///< the module's own
  bool poisoned = false;   ///< set before the call
};

/// What a message is for, of this module or those above, which share one handler of the fabric.
enum class topic : std::uint8_t {
  event = 0,
  barrier = 1,
  queue = 2,
  hang = 3,
  reservation = 8,
  task = 9,
  machine = 10,
  trace = 11,
  job = 12,
  profile = 13,
  region = 16,
  copy = 17,
  reduction = 18,
  spare = 24,  ///< 24 to 31: for programs and tests
};
inline constexpr std::size_t topics = 32;

/// A message as its handler sees it; `data` dies when the handler returns.
struct message {
  job_rank source;
  std::uint64_t small;  ///< 56 bits
  std::uint64_t word;
  const std::byte* data;
  std::size_t size;
};
using message_handler = void (*)(void* context, const message& m);

}  // namespace sinew::event
