// SPDX-License-Identifier: BSD-3-Clause
// The engine, put together. Read first the header of the part you look for:
//
//   message, channel, operation  the records that go from part to part
//   peers          which endpoint leads to a rank, and what keeps a send from going straight there
//   channels       the channels by their contexts                    a lock
//   unexpected     messages that wait for their receives, and their memory
//   backlog        what found no room, and what waits for an answer  a lock
//   inflows        messages that come in pieces                      a lock
//   tagged         messages that the network matches                 a lock
//   meeting        communicators that share one context              a lock
//   probe          probes                                            a lock
//   failures       ranks that die, communicators that are revoked
//   observe        an observer, who is told of messages
//   send, push     the way out
//   receive        the way in
//
// A call goes down: engine -> sender or receiver -> peers, and on to the fabric; what finds no room
// there goes to the backlog. A message goes up: a handler (engine.cpp) -> receiver or inflows ->
// the channel where it meets its receive, or unexpected. Locks are taken in this order: of
// channels, of tagged or inflows, of matching; the others are taken alone, or last.
#pragma once

#include <new>

#include "p2p/backlog.hpp"
#include "p2p/channels.hpp"
#include "p2p/failures.hpp"
#include "p2p/inflows.hpp"
#include "p2p/meeting.hpp"
#include "p2p/message.hpp"
#include "p2p/observe.hpp"
#include "p2p/operation.hpp"
#include "p2p/peers.hpp"
#include "p2p/probe.hpp"
#include "p2p/receive.hpp"
#include "p2p/send.hpp"
#include "p2p/steering.hpp"
#include "p2p/tagged.hpp"
#include "p2p/unexpected.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

struct engine::state {
  state(core::runtime& runtime, bool tells_kinds);
  ~state();
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  void set_handlers(fabric::endpoint& of);
  int bury_channels() noexcept;
  void diagnose();
  /// See core::runtime::explainer.
  bool explain(const void* waited, boot::awaited& what);
  /// The way to ranks of other jobs. Any thread.
  void open_outside();

  core::runtime& rt;
  int burial = -1;  ///< the chore that ends channels which have been dropped
  peer_table peers;
  /// Also where the network matches: what is seldom is looked for on this way only.
  const bool threaded;
  operation_pool operations;
  unexpected_messages unexpected;
  backlog waiting;
  const std::unique_ptr<steering> steers;  ///< null: nobody does
  channel_table channels;
  inflows pieces;
  meeting_table meetings;
  observation observers;
  receiver receives;
  sender sends;
  failure_watch failures;
  network_matching network;
  prober probes;
};

/// The handler of a message that its part may have to store: what finds no memory comes again.
/// Hot.
template <auto Part, auto Arrived>
[[gnu::flatten]] status storing(void* self, const fabric::arrival& a) noexcept {
  auto& s = *static_cast<engine::state*>(self);
  try {
    return ((s.*Part).*Arrived)(a) ? status::ok() : s.unexpected.short_of_memory();
  } catch (const std::bad_alloc&) {
    return s.unexpected.short_of_memory();
  }
}

/// The handler of a word, which its part hears.
template <auto Part, auto Arrived>
status hearing(void* self, const fabric::arrival& a) noexcept {
  ((static_cast<engine::state*>(self)->*Part).*Arrived)(a);
  return status::ok();
}

}  // namespace sinew::p2p
