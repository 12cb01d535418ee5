// SPDX-License-Identifier: BSD-3-Clause
// Ranks that die, and communicators that are revoked: what is under way with them ends with a
// fault. Whoever polls looks after it, at most every 100 us, and only once something has failed; so
// an operation need not ask when it begins. Sends do, by a bit that they look at anyhow.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "p2p/channel.hpp"
#include "p2p/operation.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/boot/survival.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::p2p {

class backlog;
class channel_table;
class inflows;
class meeting_table;
class network_matching;
class peer_table;
class sender;
class unexpected_messages;

/// Has no lock: what is not atomic is the poller's. Invariant: while a rank is dead or a
/// communicator revoked, any() holds, and whatever waits for it ends within a period of looking.
class failure_watch {
 public:
  struct parts {
    core::runtime& rt;
    peer_table& peers;
    channel_table& channels;
    operation_pool& operations;
    unexpected_messages& unexpected;
    backlog& waiting;
    inflows& pieces;
    receiver& receives;
    sender& sends;
    network_matching& network;
    meeting_table& meetings;
  };
  explicit failure_watch(const parts& p);
  ~failure_watch();
  failure_watch(const failure_watch&) = delete;
  failure_watch& operator=(const failure_watch&) = delete;

  /// A rank has died, or a communicator been revoked. Any thread. Hot.
  [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_relaxed); }
  /// What becomes of a message to or from `source` (of the communicator) now. Any thread.
  [[nodiscard]] fault fault_of(const channel& in, comm_rank source) const noexcept;
  /// See engine::is_interrupted(). Any thread.
  [[nodiscard]] bool is_interrupted(const operation& op) const noexcept;
  [[nodiscard]] bool has_dead(const core::communicator& comm) const noexcept;
  /// Ends a send that has not begun, if it cannot. Any thread.
  [[nodiscard, gnu::cold, gnu::noinline]] bool end_failed(operation& op, job_rank to) noexcept;
  /// What waits for that rank ends: for room, for its answer, for its data, for the rest of its
  /// message.
  std::size_t end_sends_to(job_rank peer);

  // --- revoked communicators ---

  /// Tells the others, too.
  void revoke(const core::communicator& comm);
  void arrived_revoke(const fabric::arrival& a) noexcept;
  /// A word about a communicator that this rank had freed before may come so late that its context
  /// has another one here. Who revokes keeps the context for ever, and so is no member of that.
  static void forget_old_revocation(channel& in, const core::communicator& comm) noexcept;

  // --- ranks of other jobs; in the poller ---

  void stranger_lost(job_rank who);
  /// False if something of it is still here.
  [[nodiscard]] bool forget_stranger(job_rank who) noexcept;

 private:
  void note(job_rank dead);
  void begin_looking();
  int look();
  std::size_t end_all();
  /// A receive that is posted, and the fault that it ends with.
  struct failed_receive {
    operation* op;
    fault why;
  };
  void find_failed(channel& in, std::vector<failed_receive>& failed);
  std::size_t end_receives();
  std::size_t end_revoked_sends();
  void end_with(operation& op, fault why) noexcept;
  void mark_revoked(std::uint32_t context, job_rank by);

  const parts all_;
  boot::survival* const survivors_;  ///< null: the job ends when a rank dies
  const int chore_;
  std::atomic<bool> any_{false};  ///< relaxed, see any()
  std::vector<job_rank> dead_members_;
  std::vector<job_rank> lost_strangers_;
  std::atomic<std::uint32_t> strangers_lost_{0};  ///< how many so far; a count alone, so relaxed
  bool any_revoked_ = false;  ///< theirs who revoke, too: it only lasts too long
  std::int64_t looked_ns_ = 0;
};

}  // namespace sinew::p2p
