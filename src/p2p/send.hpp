// SPDX-License-Identifier: BSD-3-Clause
// The way out of messages and words.
#pragma once

#include <cstddef>

#include "p2p/message.hpp"
#include "p2p/operation.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

class backlog;
class failure_watch;
class observation;
class peer_table;

/// Keeps nothing: what is under way is in operations and in the backlog. Any thread.
class sender {
 public:
  struct parts {
    core::runtime& rt;
    peer_table& peers;
    operation_pool& operations;
    backlog& waiting;
    network_matching& network;
    failure_watch& failures;
    observation& observers;
  };
  explicit sender(const parts& p) noexcept : all_(p) {}

  /// A send that did not go at once: it is synchronous, long, throttled, or behind others. Throws
  /// std::bad_alloc, with nothing sent.
  [[nodiscard, gnu::noinline]] operation* start(channel& in, fabric::header head,
                                                const buffer& from, job_rank peer, mode how);
  /// The same, to its end. Suspends.
  [[gnu::noinline]] result finish(channel& in, fabric::header head, const buffer& from,
                                  job_rank peer, mode how);
  /// The next step of `op`, if the fabric has room for it. After true the operation may be gone.
  [[nodiscard]] bool attempt(operation& op);

  /// A word to another rank, from inside a handler: at once, or from the backlog. What it tells of
  /// has happened, and its receiver waits; so without memory there is no way on.
  [[gnu::noinline]] void control(job_rank peer, am what, fabric::header word) noexcept;
  /// Behind what was submitted to that rank before.
  void control_in_order(job_rank peer, am what, fabric::header word) noexcept;

  /// A receive has met a message of ours that its sender waits for, or whose data it has copied; or
  /// the message is withdrawn.
  void arrived_matched(const fabric::arrival& a) noexcept;

 private:
  [[nodiscard]] step first_step(job_rank peer, const buffer& from, mode how) const;
  void offer(operation& op, const buffer& from);
  [[nodiscard]] bool push(operation& op);
  [[nodiscard]] bool push_piece(operation& op, std::size_t n) noexcept;

  const parts all_;
};

}  // namespace sinew::p2p
