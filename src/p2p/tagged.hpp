// SPDX-License-Identifier: BSD-3-Clause
// Messages between nodes that the network matches: an adapter that can, or UCX. A message has the
// whole of its envelope in its key, so both sides know without a word which go this way: those of
// communicators whose number fits, to ranks of other nodes. All others are matched here.
//
// A receive from any source may be met by a message of this node, so it is matched here. As long as
// one waits, its channel keeps all: receives from other nodes that are posted meanwhile wait here,
// too, and messages that have met none in the network are brought here. So the network's receives
// are all older than ours, and its messages all younger than those stored here, which is MPI's
// order. Afterwards the receives that are left go to the network, in their order.
#pragma once

#include <vector>

#include "p2p/channel.hpp"
#include "p2p/operation.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::p2p {

class backlog;
class failure_watch;
class observation;
class peer_table;
class unexpected_messages;

/// Its lock comes before those of matching, and guards `away` and `keeps_all` of all channels, and
/// `away` of operations. Invariant: a receive is posted in its channel's `matcher`, or in its
/// `away` and in the network, never in both. Any thread, where the network matches; else nothing
/// here is ever asked.
class network_matching {
 public:
  struct parts {
    core::runtime& rt;
    peer_table& peers;
    operation_pool& operations;
    unexpected_messages& unexpected;
    backlog& waiting;
    failure_watch& failures;
    observation& observers;
  };
  explicit network_matching(const parts& p);
  network_matching(const network_matching&) = delete;
  network_matching& operator=(const network_matching&) = delete;

  /// Before the communicator's first message.
  void match_for(channel& in) const;
  /// Its communicator is gone: what has come for it and was never received goes, too.
  void stop_matching(channel& in);
  /// A send to a rank that is known (backlog) and whose messages in `in` the network matches.
  [[nodiscard]] operation* start_send(channel& in, fabric::header head, const buffer& from,
                                      job_rank peer, mode how);
  /// A receive, or what it meets here. Throws std::bad_alloc, and the receive is stored nowhere.
  [[nodiscard]] match::message* post(operation& op);
  /// What has met no receive in the network meets one here, or is stored: whoever looks for it in
  /// the channel finds it.
  void bring(channel& in);
  /// A receive has met a message that the network has for it.
  void take(operation& op, const fabric::tagged::waiting& what) noexcept {
    take(op, what, nullptr);
  }
  /// True: the network has that receive, and ends it soon.
  [[nodiscard]] bool cancel(operation& op);
  /// In a revoked communicator, all that the network has.
  void end_receives(channel& in);
  /// Nothing changes in `away` of that channel meanwhile.
  [[nodiscard]] base::guard hold(const channel& in) noexcept {
    return base::guard(lock_, in.away != nullptr);
  }

 private:
  struct ending {
    operation* op;
    fabric::tagged::ending how;
  };
  /// Collected under the lock, and told without it: who waits may start the next operation.
  using endings = std::vector<ending>;

  [[nodiscard]] bool comes_tagged(const channel& in, comm_rank source) const noexcept;
  void sent(operation& op, const fabric::tagged::ending& how) noexcept;
  void hand_over(operation& op, endings& ends);
  void bring(channel& in, endings& ends);
  void take(operation& op, const fabric::tagged::waiting& what, endings* ends) noexcept;
  void received(operation& op, const fabric::tagged::ending& how) noexcept;
  void end_all(const endings& ends) noexcept;
  [[nodiscard]] fabric::tagged::operation& set_part(operation& op) noexcept;
  int look_after_kept();
  void give_away(channel& in, endings& ends);

  const parts all_;
  fabric::tagged* const tags_;  ///< null: the network matches nothing
  int kept_chore_ = -1;
  base::lock lock_;
  std::vector<channel*> kept_;  ///< those that keep all
};

}  // namespace sinew::p2p
