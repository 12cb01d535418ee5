// SPDX-License-Identifier: BSD-3-Clause
// Two-sided messages: inline and eager through the fabric's active messages, rendezvous by one-
// sided copy, matched by the communicator's engine. MPI-5.0 chapter 3 without its handles.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/core/communicator.hpp"
#include "sinew/core/completion.hpp"
#include "sinew/core/outside.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/layout/datatype.hpp"
#include "sinew/match/engine.hpp"

namespace sinew::p2p {

inline constexpr comm_rank any_source = match::any_source;
inline constexpr message_tag any_tag = match::any_tag;
inline constexpr comm_rank no_rank = -3;  ///< MPI_PROC_NULL: done at once, nothing moves
inline constexpr message_tag max_tag = 0x7fffffff;

/// See engine::attach_meeting().
inline constexpr std::uint32_t meeting_context = 6;

/// One matching space: where messages of one context meet their receives. Opaque here.
struct channel;

/// The two of a communicator: the user's messages, and the collectives'. Set by engine::attach().
inline constexpr core::communicator_slot<channel> messages_slot(core::slots::p2p_messages);
inline constexpr core::communicator_slot<channel> collectives_slot(core::slots::p2p_collectives);

/// Of an attached communicator. Hot.
[[nodiscard]] inline channel& messages_of(const core::communicator& comm) noexcept {
  SINEW_EXPECT(comm.attached.get(messages_slot) != nullptr);
  return *comm.attached.get(messages_slot);
}
[[nodiscard]] inline channel& collectives_of(const core::communicator& comm) noexcept {
  SINEW_EXPECT(comm.attached.get(collectives_slot) != nullptr);
  return *comm.attached.get(collectives_slot);
}

/// What a send or receive reads or fills: `count` instances of `type` at `base`.
/// The type must outlive the operation (the engine takes a count of its own where it needs one).
struct buffer {
  void* base = nullptr;
  std::size_t count = 0;
  const layout::datatype* type = nullptr;

  [[nodiscard]] std::size_t bytes() const noexcept {
    SINEW_EXPECT(type != nullptr);
    return count * type->size();
  }
  /// Plain bytes.
  static buffer of_bytes(void* base, std::size_t n) noexcept {
    return {base, n, &layout::of(layout::element::byte)};
  }
  static buffer of_bytes(const void* base, std::size_t n) noexcept {
    return of_bytes(const_cast<void*>(base), n);
  }
};

/// Standard sends return when the buffer is free; synchronous ones when a receive has matched;
/// ready ones are standard ones whose receive is promised.
enum class mode : std::uint8_t { standard, synchronous, ready };

/// How an operation ended.
/// The last three: the other rank has died, or one that could have been it; a receive from any
/// source has not ended, but see is_interrupted(); the communicator has been revoked.
enum class fault : std::uint8_t {
  none,
  truncated,
  no_memory,
  cancelled,
  peer_failed,
  peer_failed_pending,
  revoked
};

/// Filled when the operation completes. For a truncated message `bytes` is what was stored and
/// `sent_bytes` what the sender sent.
struct result {
  comm_rank source = no_rank;
  message_tag tag = any_tag;
  std::size_t bytes = 0;
  std::size_t sent_bytes = 0;
  fault error = fault::none;
  std::uint32_t kinds =
      0;  ///< what the data were at the sender (layout::kinds_in), if engines tell
};

/// One operation under way. From the engine's pool; owned by the caller until release().
class request : public core::completion {
 public:
  result outcome;

 protected:
  request() = default;
  ~request() = default;
};

/// A message taken by a matched probe: receive it with mrecv, once.
struct matched;

/// What matching in one communicator has cost, and what is stored now.
struct match_report {
  std::string_view engine;
  match::search_counts counts;
  std::size_t posted = 0;
  std::size_t unexpected = 0;
};

/// A message that has come and that no receive has met. `comm` is null if it is not attached here.
struct unread {
  const core::communicator* comm = nullptr;
  match::envelope sent;
  std::size_t bytes = 0;
};

/// What has happened to one message, told to an observer.
struct incident {
  static constexpr std::uint64_t no_number = UINT64_MAX;

  const core::communicator* comm = nullptr;  ///< null: not attached here yet
  bool collective = false;                   ///< a message of a collective, not of the program
  bool arrived = false;                      ///< here; else it has been sent
  bool unexpected = false;                   ///< arrived, and no receive was posted
  bool met = false;         ///< it had been unexpected, and a receive has met it now
  bool rendezvous = false;  ///< its data wait at the sender for the receive
  job_rank peer = 0;        ///< the other rank
  message_tag tag = 0;
  std::size_t bytes = 0;
  std::size_t waiting = 0;  ///< unexpected messages stored in the communicator, this one included
  /// Which of the program's messages from its source to its target it is, the same at both, if both
  /// have begun to observe before the first. Two threads that send to one rank at the same time may
  /// get each other's. no_number: of a collective, or matched by the network.
  std::uint64_t number = no_number;
};
/// Called in the thread that sends, polls, or posts a receive (met): it must neither block nor call
/// the engine.
using observer = void (*)(const incident&) noexcept;

/// One per rank. Any thread of the rank if the runtime is threaded. Arguments are trusted (bindings
/// check them). Blocking calls suspend the caller and make progress.
class engine {
 public:
  /// `tells_kinds`: the program's messages say of which kinds their data are, to those that want to
  /// know it. They take a slower path then.
  explicit engine(core::runtime& rt, bool tells_kinds = false);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  [[nodiscard]] core::runtime& runtime() noexcept { return runtime_; }

  /// Makes a communicator's channels; before its first message leaves this rank. Messages that
  /// arrive earlier wait. Cold.
  void attach(core::communicator& comm);
  /// Gives `comm` the channels of `whose`, which is attached: two views of one context, whose ranks
  /// are numbered differently. `comm` must end before `whose` does, and is not detached. Cold.
  void attach_as(core::communicator& comm, const core::communicator& whose);
  /// Two more matching spaces of an attached communicator, for partitioned communication: what the
  /// senders tell of their partitions, and the data. Made when first asked for; detach() ends them,
  /// too. Any thread. Cold.
  enum class partitioned { terms, data };
  [[nodiscard]] channel& channel_for(const core::communicator& comm, partitioned what);
  /// Ends them. Receives whose requests have been freed still wait for their messages: false then,
  /// for the context must not be given to another communicator. Cold.
  bool detach(core::communicator& comm);

  /// Returns when nothing of ours waits for room in the fabric. Before the rank leaves the job:
  /// others may still wait for our answers. Then tells what SINEW_MATCH_STATS asks for. Suspends.
  /// Cold.
  void drain();

  /// Of the user's messages in `comm`, not of its collectives. Cold.
  [[nodiscard]] match_report matching(const core::communicator& comm);

  /// The user's messages, of all communicators, that are stored here now. Cold.
  [[nodiscard]] std::vector<unread> unread_messages();

  /// Messages in `comm` are matched by this engine from now on, those that are stored included.
  /// Throws sinew::error that lists the names; std::bad_alloc, with nothing changed. Any thread at
  /// any time. Cold.
  void match_by(core::communicator& comm, std::string_view engine);
  /// The program says that each message is as long as the receive that it meets. Checked builds
  /// hold it to that. Before the operations concerned. Cold.
  void promise_exact_length(core::communicator& comm, bool promised);

  // --- ranks of other jobs (outside.cpp); cold ---

  /// Who can be met there; made if need be. Throws sinew::error where there is no network's plugin.
  [[nodiscard]] core::outside& outside();
  /// A communicator for ranks that do not have one yet, some of them perhaps of other jobs: it has
  /// the context `meeting_context`, as all such ones, and lasts as long as they need to agree on
  /// another. They tell their messages from others' by `tag`, and use the collectives' channel
  /// alone. A rank of another job that is lost meanwhile ends what waits for it. Until
  /// end_meeting().
  void attach_meeting(core::communicator& comm, message_tag tag);
  void end_meeting(const core::communicator& comm) noexcept;

  // --- ranks that come, and ranks that die (attach.cpp, failures.cpp); cold ---

  /// See core::runtime::meet(). What waited for another rank in that place ends with a fault.
  void meet(job_rank peer, std::uint32_t tenant = fabric::whoever_is_there);

  /// Nothing can be sent or received in `comm` any more, on none of its ranks, and what is under
  /// way ends with fault::revoked. Returns at once; the others learn of it as they make progress.
  void revoke(const core::communicator& comm);
  [[nodiscard]] bool is_revoked(const core::communicator& comm);
  /// Whether a rank of `comm` has died; only where the others go on (--survive). Warm.
  [[nodiscard]] bool has_dead(const core::communicator& comm) const noexcept;
  [[nodiscard]] bool is_dead(job_rank rank) const noexcept;
  /// Ranks that this one has to do with may die while it goes on: under --survive, and where there
  /// are ranks of other jobs. Hot.
  [[nodiscard]] bool outlives_ranks() const noexcept {
    return outlives_ranks_.load(std::memory_order_relaxed);
  }
  /// A receive from any source of which no message has met, while a rank that could be its source
  /// has died and is not acknowledged. It stays posted: a message may still meet it. For whoever
  /// waits, who should hear of that: such a receive may_be_interrupted(). `r` is a receive. Warm.
  [[nodiscard]] bool is_interrupted(const request& r) const noexcept;
  [[nodiscard]] bool may_be_interrupted(const request& r) const noexcept {
    return outlives_ranks() && is_from_any(r);
  }
  /// Receives from any source may go on although the first `deaths` of the dead are gone.
  void acknowledge(const core::communicator& comm, std::uint32_t deaths);
  [[nodiscard]] std::uint32_t acknowledged(const core::communicator& comm);

  /// From the return on, `seen` is told of each message sent or arrived; null: nobody is, which is
  /// how an engine begins and costs nothing. Observed messages all take a slower path. Suspends;
  /// one thread at a time. Cold.
  void observe(observer seen);

  // --- hot; channel is messages_of(comm) or collectives_of(comm); ranks are the communicator's ---

  /// Returns when the buffer may be reused (or, synchronous, when matched).
  result send(const core::communicator& comm, channel& in, const buffer& from, comm_rank dest,
              message_tag tag, mode how = mode::standard);
  /// A standard send that is short, of dense data, if it can leave at once. If not it is false,
  /// nothing has happened, and send() or isend() is the way.
  [[nodiscard]] bool send_at_once(const core::communicator& comm, channel& in, const buffer& from,
                                  comm_rank dest, message_tag tag) noexcept;
  result recv(const core::communicator& comm, channel& in, const buffer& into, comm_rank source,
              message_tag tag);
  /// Instead of a message, in a channel of collectives: the receive that it would have met ends
  /// with `why`, without data. Returns at once; ends the process where there is no memory for it.
  /// Cold.
  void send_fault(const core::communicator& comm, channel& in, fault why, comm_rank dest,
                  message_tag tag) noexcept;
  /// Null if the operation finished at once (only sends do; its outcome needs no looking at).
  [[nodiscard]] request* isend(const core::communicator& comm, channel& in, const buffer& from,
                               comm_rank dest, message_tag tag, mode how = mode::standard);
  /// Never null.
  [[nodiscard]] request* irecv(const core::communicator& comm, channel& in, const buffer& into,
                               comm_rank source, message_tag tag);
  void wait(request& r) {
    if (!r.done()) {
      runtime_.wait(r);
    }
  }
  /// Makes one round of progress unless already done.
  bool test(request& r) { return r.done() || (runtime_.poll(), r.done()); }
  /// Gives the request back; if it is not done, when it is (MPI_Request_free).
  void release(request* r);
  /// For what a thread waits that waits for this one; false: that is not known. By the thread that
  /// makes progress, as a core::runtime::explainer. Cold.
  [[nodiscard]] bool explain(const request& waited, boot::awaited& what);
  /// Receives only: true if it had not matched; then it completes with fault::cancelled.
  bool cancel(request& r);
  /// Sends only: asks the receiver to give back a message that no receive has met. It completes
  /// with fault::cancelled then, and as if nobody had asked if one has. Either takes progress of
  /// the receiver. What the network matches cannot be asked for. Warm.
  void cancel_send(request& r);

  /// sendrecv without deadlock.
  result exchange(const core::communicator& comm, channel& in, const buffer& from, comm_rank dest,
                  message_tag send_tag, const buffer& into, comm_rank source, message_tag recv_tag);

  /// One round of progress, then looks. Source, tag and size of the message if there is one.
  std::optional<result> iprobe(const core::communicator& comm, channel& in, comm_rank source,
                               message_tag tag);
  result probe(const core::communicator& comm, channel& in, comm_rank source, message_tag tag);
  /// Takes the message out of the queue. Null if none.
  matched* improbe(const core::communicator& comm, channel& in, comm_rank source, message_tag tag,
                   result& found);
  matched* mprobe(const core::communicator& comm, channel& in, comm_rank source, message_tag tag,
                  result& found);
  [[nodiscard]] request* imrecv(matched* m, const buffer& into);
  result mrecv(matched* m, const buffer& into);

  struct state;

 private:
  [[nodiscard]] static bool is_from_any(const request& r) noexcept;

  core::runtime& runtime_;
  std::unique_ptr<state> state_;
  /// Set before there can be such ranks; whoever waits for one has heard of it. So relaxed.
  std::atomic<bool> outlives_ranks_;
};

}  // namespace sinew::p2p
