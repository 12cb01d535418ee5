// SPDX-License-Identifier: BSD-3-Clause
// The way in of messages: where arrivals meet receives.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "p2p/channels.hpp"
#include "p2p/message.hpp"
#include "p2p/operation.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

class backlog;
class failure_watch;
class inflows;
class observation;
class peer_table;
class sender;
class unexpected_messages;

/// Has no lock but those of the channels' matching. What arrives, arrives in the poller.
///
/// A blocking receive that is alone in its channel is held back, not posted, in a job without
/// threads: the next message is nearly always the one it waits for, and then matching is left out.
/// Invariant: while one is held back nothing is posted or stored in its channel, since whatever
/// else concerns that channel posts it first.
class receiver {
 public:
  struct parts {
    core::runtime& rt;
    peer_table& peers;
    channel_table& channels;
    operation_pool& operations;
    unexpected_messages& unexpected;
    backlog& waiting;
    inflows& pieces;
    sender& sends;
    network_matching& network;
    failure_watch& failures;
    observation& observers;
  };
  /// `posts_all`: no receive is held back. `hears_kinds`: what senders say of their data is kept.
  /// Throws std::bad_alloc.
  receiver(const parts& p, bool threaded, bool posts_all, bool hears_kinds);

  /// Throws std::bad_alloc, and the receive is stored nowhere. Hot.
  void post(operation& op);
  /// The same for one whose caller will wait for it at once: it may be held back. Hot.
  void post_late(operation& op, comm_rank source, message_tag tag);
  [[nodiscard]] bool holds_back(std::uint64_t context) const noexcept {
    return held_head_.word[0] == context;
  }
  /// If a receive is held back (there). Throws what post() does; then it is held back still.
  void post_held_back() {
    if (!holds_back(channel_table::no_context)) {
      post_held();
    }
  }
  void post_held_back(const channel& in) {
    if (holds_back(in.context)) [[unlikely]] {
      post_held();
    }
  }
  /// Until it has ended, or is to end since one that could be its source has died. Suspends.
  [[gnu::noinline]] void await(operation& op);
  /// Ends a receive that is posted. False if a message has met it.
  bool end_posted(operation& op, fault why);

  // What follows a match cannot be undone, and does not fail: it throws nothing.

  /// A receive has met a message that was stored before it. The operation may be gone afterwards.
  [[gnu::noinline]] void consume(operation& op, matched* m) noexcept;
  /// The data of a long message are here: the end of what fetch() has begun.
  void fetched(operation& op) noexcept;

  // --- in the poller ---

  /// Of short messages, without and with their sender's operation. Their context is the engine's
  /// state.
  struct eager_handlers {
    fabric::handler plain;
    fabric::handler sync;
  };
  [[nodiscard]] eager_handlers handlers() const noexcept;
  /// These answer false if there is no memory for the message, or throw std::bad_alloc: then
  /// nothing has happened. Once one has been matched nothing can fail any more.
  template <bool Threads, bool Sync>
  [[nodiscard]] bool arrived(const fabric::arrival& a);
  /// The same, where it may be said of which kinds the data are.
  template <bool Sync>
  [[nodiscard]] bool arrived_with_kinds(const fabric::arrival& a);
  [[nodiscard]] bool arrived_rts(const fabric::arrival& a);
  [[nodiscard]] bool arrived_fault(const fabric::arrival& a);
  void arrived_withdraw(const fabric::arrival& a) noexcept;
  /// Both null: nothing has happened, for want of memory.
  struct meeting {
    operation* met;   ///< the receive; its source and tag are known
    matched* stored;  ///< the message, of which `bytes` have room
  };
  /// The receive that a message meets of which no data has come yet. If there is none the message
  /// is stored, with `data` if they are here; `fill` completes it, while nobody else can find it.
  template <class Fill>
  [[nodiscard]] meeting meet(const fabric::arrival& a, std::size_t bytes, const Fill& fill,
                             const std::byte* data = nullptr);
  /// The record for the next arrival: another one exactly if a message has been stored.
  [[nodiscard]] matched* spare() const noexcept { return spare_; }
  /// Before a channel ends, in which no message can be under way any more. Any thread.
  void forget_latest() noexcept {
    latest_context_.store(channel_table::no_context, std::memory_order_relaxed);
  }

 private:
  [[gnu::noinline]] void post_held();
  [[gnu::noinline]] match::message* post_among_threads(operation& op);
  [[gnu::noinline]] void fetch(operation& op, job_rank job_source, std::uint64_t sender_operation,
                               const fabric::remote_address& from, std::size_t bytes) noexcept;
  template <bool Sync>
  [[nodiscard, gnu::noinline]] bool arrived_among_threads(channel& in, const fabric::arrival& a);
  template <bool Threads>
  void end_eager(operation& op, const fabric::arrival& a, const eager_content& what) noexcept;
  [[nodiscard]] bool store_eager(channel& in, const fabric::arrival& a,
                                 const eager_content& what) noexcept;
  [[nodiscard]] bool store(const fabric::arrival& a, const std::byte* data,
                           std::size_t bytes) noexcept;

  const parts all_;
  const bool threaded_;
  const bool posts_all_;
  const bool hears_kinds_;
  matched* spare_;  ///< the poller's own
  /// The channel of the last arrival: the poller's own. Its number is also cleared, by whoever
  /// drops the channel, when no message can be under way in it; so relaxed.
  channel* latest_ = nullptr;
  std::atomic<std::uint32_t> latest_context_{channel_table::no_context};
  /// The receive held back, and the header of the message that it waits for.
  operation* held_back_ = nullptr;
  fabric::header held_head_{{channel_table::no_context, 0}};
};

template <class Fill>
receiver::meeting receiver::meet(const fabric::arrival& a, std::size_t bytes, const Fill& fill,
                                 const std::byte* data) {
  if (context_in(a.head) == held_head_.word[0]) {
    post_held();
  }
  channel& in = all_.channels.of(a);
  SINEW_ASSERT(spare_ != nullptr);
  matched& m = *spare_;
  m.sent = envelope_in(a.head);
  m.kinds = kinds_in(a.head);
  const auto look = [&](auto& where) -> meeting {
    auto* const op = static_cast<operation*>(where.arrive(m));
    if (op != nullptr) {
      return {op, nullptr};
    }
    m.in = &in;
    fill(m);
    if (store(a, data, bytes)) {
      return {nullptr, &m};
    }
    where.withdraw(m);
    return {nullptr, nullptr};
  };
  meeting found{nullptr, nullptr};
  if (threaded_) {
    auto held = in.matcher.enter(m.sent);
    found = look(held);
  } else {
    found = look(in.matcher.alone());
  }
  if (found.met != nullptr) {
    found.met->outcome.source = m.sent.source;
    found.met->outcome.tag = m.sent.tag;
    found.met->outcome.kinds = m.kinds;
  }
  return found;
}

}  // namespace sinew::p2p
