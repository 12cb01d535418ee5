// SPDX-License-Identifier: BSD-3-Clause
// Telling an observer of messages. While there is none, nothing here runs and nothing elsewhere is
// asked: sends leave the fast path by a bit that they look at anyhow, and arrivals are seen by
// handlers that stand before the usual ones only meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "p2p/channel.hpp"
#include "p2p/message.hpp"
#include "p2p/operation.hpp"
#include "sinew/base/check.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/match/engine.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

class channel_table;
class peer_table;

/// Has no lock: its state is two atomic words. Invariant: once observe() has returned, handlers
/// that tell are installed, and the `observed` bits of all peers set, exactly if somebody is to be
/// told.
class observation {
 public:
  struct parts {
    core::runtime& rt;
    peer_table& peers;
    channel_table& channels;
  };
  /// `context` is what the handlers get.
  observation(const parts& p, void* context) noexcept : all_(p), context_(context) {}

  /// See engine::observe().
  void observe(observer seen);
  /// Installs the handler of a kind of message that can be observed, for as long as it is not.
  void install(fabric::endpoint& of, am what, fabric::handler h) {
    SINEW_EXPECT(what < am_end);
    plain_[what - am_eager] = h;
    of.set_handler(what, h, context_);
  }
  /// The handler installed.
  [[nodiscard]] fabric::handler plain(am what) const noexcept { return plain_[what - am_eager]; }

  [[nodiscard]] bool is_told() const noexcept {
    return told_.load(std::memory_order_relaxed) != nullptr;
  }
  /// `numbered`: it goes in order with the others to its target.
  [[gnu::cold, gnu::noinline]] void tell_sent(const operation& op, bool numbered) noexcept;
  /// Before a message is handled, which `m` stores if no receive is posted: notes its number there.
  void number(const fabric::arrival& a, matched& m) noexcept;
  /// `number` is what has been noted.
  void tell_arrived(am what, const fabric::arrival& a, bool stored, std::uint64_t number) noexcept;
  [[gnu::cold, gnu::noinline]] void tell_met(const matched& m) noexcept;
  /// Of one that has met its receive in the network it is not known whether it waited there.
  void tell_tagged(const channel& in, const match::envelope& sent, std::size_t bytes,
                   bool stored) noexcept;

 private:
  /// Of the messages between this rank and another one.
  struct counted {
    std::atomic<std::uint64_t> sent{0};  ///< relaxed: a number, and nothing else depends on it
    std::uint64_t arrived = 0;           ///< the poller's
  };

  int apply();

  const parts all_;
  void* const context_;
  /// Whom to tell; relaxed: it is followed by `applied_`, which the poller sets.
  std::atomic<observer> told_{nullptr};
  /// What is installed is for somebody. Written by the poller with release, awaited with acquire.
  std::atomic<bool> applied_{false};
  int chore_ = -1;
  /// By rank of the job; those of other jobs have none. Made before anybody is told, and stays.
  std::vector<counted> counted_;
  std::array<fabric::handler, am_end - am_eager> plain_{};
};

}  // namespace sinew::p2p
