// What the engine keeps: channels, operations under way, arrived messages, and peers.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "p2p/lazy_pages.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/boot/survival.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/core/outside.hpp"
#include "sinew/core/pool.hpp"
#include "sinew/match/parallel.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

/// Where messages of one context meet their receives.
struct channel {
  std::uint32_t context = 0;
  /// Null until the communicator is attached: messages may arrive before that.
  const core::communicator* comm = nullptr;
  match::parallel_engine<base::lock> matcher;
  /// Of messages between two groups: the remote one, whose ranks are their sources. Else empty. Set
  /// before the first operation.
  core::group remote;
  /// Promised: each message is as long as the receive that it meets. Set before the operations
  /// concerned; so relaxed.
  std::atomic<bool> exact_length{false};
  /// These two by survive.cpp. Relaxed: whoever needs to know looks again while it waits.
  std::atomic<bool> revoked{false};
  job_rank revoked_by = no_job_rank;           ///< the poller's, and its who attaches
  std::atomic<std::uint32_t> acknowledged{0};  ///< deaths that the program knows of
  // tagged.cpp; null: all is matched here. Set by attach(), the rest under tags_lock.
  std::unique_ptr<match::engine> away;  ///< the receives that the network has; it gets no message
  bool keeps_all = false;  ///< receives from other nodes wait here: one from any source does
  /// Messages of the network that are stored here. Relaxed: whoever looks for one that it must
  /// find has stored it itself, or held tags_lock after who did.
  std::atomic<std::size_t> stored_tagged{0};

  channel(std::uint32_t number, std::string_view engine) : context(number), matcher(engine) {}

  /// Whose messages have these sources. Attached channels only.
  [[nodiscard]] const core::group& sources() const noexcept {
    SINEW_EXPECT(comm != nullptr);
    return remote.size() != 0 ? remote : comm->members();
  }
};

/// Attached for `comm`, or for another view of the same context (engine::attach_as).
[[nodiscard]] inline bool is_channel_of(const channel& c, const core::communicator& comm) noexcept {
  return c.comm != nullptr && c.comm->context() == comm.context();
}

/// Active messages of p2p. Header of the first three: word 0 is the context, word 1 the envelope
/// (the sender's rank in the communicator and the tag). Of the others: word 0 names the sender's
/// operation.
enum am : fabric::handler_id {
  am_eager = core::handlers::p2p,  ///< payload: the data
  am_eager_sync,  ///< payload: the sender's operation (8 B), the data; answered by am_matched
  am_rts,         ///< payload: the `rts` of a long message; answered by am_matched when copied
  am_matched,     ///< the sender's operation is complete; word 1 is 1: its message is withdrawn
  am_throttle,    ///< word 0 is 1: send an RTS, do not push, until 0 comes
  am_push,        ///< as the first three; payload: announces a message in pieces (push.cpp)
  am_piece,       ///< a piece of it; word 0 names it
  am_revoke,      ///< word 0: nothing more goes in that context and the next
  am_withdraw,    ///< its sender wants the message back, of the context in word 1
  am_end
};
static_assert(am_end <= core::handlers::rma);

/// Says where the data of a long message lies. Fits a short message on every back-end.
struct rts {
  std::uint64_t operation;  ///< address of the sender's operation, meaningful there only
  std::uint64_t bytes;
  fabric::remote_address from;
};

static_assert(std::is_trivially_copyable_v<rts>);  // it travels as bytes

/// A message that arrived before its receive: data, or an RTS.
struct matched : match::message {
  enum class way : std::uint8_t { eager, rts, pushed, tagged };
  static constexpr std::size_t inline_bytes = 48;
  /// Of heap, from one use to the next in any case; more: see large_heaps.
  static constexpr std::size_t always_kept = 2048;

  channel* in = nullptr;
  matched* pool_link = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t sender_operation = 0;  ///< to be told when matched; 0: nobody waits
  fabric::remote_address from{};       ///< of an RTS
  fabric::tagged::waiting tagged{};    ///< of a tagged one
  std::unique_ptr<std::byte[]> heap;   ///< of a message longer than `small`; kept for the next
  std::size_t heap_bytes = 0;
  std::size_t charged = 0;  ///< bytes held against its sender's limit
  job_rank job_source = 0;
  way how = way::eager;
  std::array<std::byte, inline_bytes> small{};

  [[nodiscard]] std::byte* data() noexcept {
    return bytes <= inline_bytes ? small.data() : heap.get();
  }
};

/// What an eager message carries.
struct eager_content {
  const std::byte* data;
  std::size_t bytes;
  std::uint64_t sender_operation;  ///< to be told when matched; 0: nobody waits

  template <bool Sync>
  static eager_content of(const fabric::arrival& a) noexcept {
    if constexpr (!Sync) {
      return {a.data, a.size, 0};
    } else {
      std::uint64_t waits = 0;
      std::memcpy(&waits, a.data, sizeof waits);
      return {a.data + sizeof waits, a.size - sizeof waits, waits};
    }
  }
};

/// What an operation has to do next, where it could not be done at once.
enum class step : std::uint8_t {
  nothing,
  send_eager,  ///< packed into a packet of the fabric
  commit_packet,
  send_whole,  ///< longer than a packet, from where it lies
  send_sync,
  send_rts,
  announce,
  push,
  control,
  get
};

/// One send or receive under way. Pooled: fields keep their state between uses, so whoever starts a
/// kind of operation sets all that it reads. The bases and the first fields are all that a receive
/// of a short message touches: two cache lines (asserted below).
struct alignas(64) operation final : request, match::receive {
  /// The user's buffer; as plain bytes if its type is dense, since the user may free the type.
  buffer data{};
  operation* pool_link = nullptr;
  channel* in = nullptr;

  layout::datatype_ref keeps;           ///< a count of a type that is not dense
  std::unique_ptr<std::byte[]> packed;  ///< the data of a message with gaps, where they go whole
  operation* next = nullptr;            ///< in a peer's backlog
  engine::state* owner = nullptr;
  fabric::packet parcel{};
  fabric::header head{};
  fabric::remote_address from{};  ///< what is exposed (send) or fetched (receive)
  std::uint64_t remote_operation = 0;
  std::size_t pushed = 0;  ///< bytes that have gone, of a message in pieces
  job_rank peer = 0;
  step todo = step::nothing;
  fabric::handler_id handler = 0;
  bool exposed = false;
  bool withdrawing = false;  ///< a send that its receiver has been asked to give back
  bool away = false;         ///< a receive listed in its channel's `away`; under tags_lock
  /// What the network has of it.
  struct tagged_part : fabric::tagged::operation {
    p2p::operation* self = nullptr;
  };
  tagged_part part;

  /// A receive from any source that no message has met. Set before it is posted; who sees that too
  /// late reports the death of a rank, of which it has heard, too early. So relaxed.
  std::atomic<bool> unmatched{false};

  /// Gives the operation back, if it is released before its end.
  struct orphan_waiter : core::waiter {
    operation* self = nullptr;
  } orphan;
};

/// Why sends to a rank do not go straight to the fabric, which every send asks. Relaxed, since a
/// stale value is harmless: `throttled` is advice, and a thread sees its own `backlogged` at once,
/// which is all that MPI's order asks.
class slow_bits {
 public:
  static constexpr std::uint8_t throttled = 1;   ///< it has too many unexpected messages of ours
  static constexpr std::uint8_t backlogged = 2;  ///< sends wait in our backlog; under flow_lock
  static constexpr std::uint8_t observed = 4;    ///< sends are told to an observer
  static constexpr std::uint8_t failing = 8;     ///< sends ask survive.cpp first
  static constexpr std::uint8_t dead = 16;       ///< it has died; by the poller
  static constexpr std::uint8_t stranger = 32;   ///< of another job: not over the job's fabric
  static constexpr std::uint8_t tagged = 64;     ///< the network may match messages to it

  [[nodiscard]] std::uint8_t get() const noexcept { return bits_.load(std::memory_order_relaxed); }
  void set(std::uint8_t bits) noexcept { bits_.fetch_or(bits, std::memory_order_relaxed); }
  void clear(std::uint8_t bits) noexcept {
    bits_.fetch_and(static_cast<std::uint8_t>(~bits), std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint8_t> bits_{0};
};
static_assert(sizeof(slow_bits) == 1);  // docs/internals/scale.md: there is one for each rank

/// What is kept of another rank once a message to or from it has to wait. Under flow_lock, but for
/// what is atomic.
struct peer_state {
  std::uint32_t rts_pending = 0;  ///< of our sends, those it has not matched (for diagnosis)
  job_rank rank = no_job_rank;    ///< known once it is listed
  bool draining = false;          ///< the first of the backlog has been taken out to be tried
  operation* backlog = nullptr;   ///< first to be tried again
  operation* backlog_last = nullptr;
  peer_state* next_listed = nullptr;  ///< of those with a backlog
  /// Bytes of its unexpected messages here, and whether we have throttled it for them. Counted
  /// without a lock: each change decides by the sum that it made, see throttle(). Relaxed: no other
  /// data hangs on them.
  std::atomic<std::size_t> charged{0};
  std::atomic<bool> throttle_sent{false};
};

/// A message that comes in pieces: into its receive, or into what is stored until that is posted.
struct inflow {
  job_rank source;  ///< of the data
  std::uint64_t name;
  std::size_t bytes;
  std::size_t arrived = 0;
  std::byte* to = nullptr;
  std::size_t room = 0;  ///< bytes to be kept
  operation* op = nullptr;
  matched* stored = nullptr;
};

struct engine::state {
  explicit state(core::runtime& rt);
  ~state();

  // --- channels.cpp ---
  [[gnu::noinline]] channel& channel_of(std::uint32_t context);
  /// The same for what a peer has written, which may be nonsense.
  [[gnu::noinline]] channel& channel_of(const fabric::arrival& a);
  /// False: receives are still posted there.
  bool drop_channel(std::uint32_t context);
  /// 0: a program's messages, partitioned ones included; 1: collectives.
  [[nodiscard]] static std::size_t kind_of(std::uint32_t context) noexcept {
    return context < first_partitioned ? context % 2 : 0;
  }
  void report_statistics();
  void diagnose();
  [[nodiscard]] std::string describe(channel& in);
  [[nodiscard]] std::string describe_probes();

  // --- send.cpp ---
  bool try_eager(job_rank peer, fabric::header head, const buffer& from, std::size_t bytes);
  [[gnu::noinline]] bool try_packed(job_rank peer, fabric::header head, const buffer& from,
                                    std::size_t bytes);
  [[gnu::noinline]] result send_waiting(channel& in, fabric::header head, const buffer& from,
                                        job_rank peer, mode how);
  [[gnu::noinline]] operation* start_send(channel& in, fabric::header head, const buffer& from,
                                          job_rank peer, mode how);
  [[nodiscard]] step first_step(job_rank peer, const buffer& from, mode how) const;
  [[nodiscard]] void* whole(operation& op, const buffer& from);
  void offer(operation& op, const buffer& from);
  [[gnu::noinline]] void submit(operation& op);
  [[nodiscard]] bool attempt(operation& op);
  [[gnu::noinline]] void send_control(job_rank peer, am what, fabric::header word) noexcept;
  void send_control_in_order(job_rank peer, am what, fabric::header word) noexcept;
  int retry_backlog();
  int retry_backlog_of(peer_state& p);
  /// Throws std::bad_alloc, unless something has been kept of that rank before.
  [[nodiscard]] peer_state& state_of(job_rank peer) {
    peer_state* const p = peers.make(peer.index());
    return p != nullptr ? *p : throw std::bad_alloc();
  }
  void arrived_matched(const fabric::arrival& a) noexcept;
  void arrived_withdraw(const fabric::arrival& a) noexcept;

  // --- push.cpp ---
  /// Data with gaps on one node in any case, up to `most_with_gaps`: they would be packed, fetched
  /// and unpacked one after the other.
  [[nodiscard]] bool can_push(job_rank peer, const buffer& from) const {
    const std::size_t bytes = from.bytes();
    if (peer == rt.rank() || push_limit == 0) {
      return false;
    }
    if (!is_near(peer)) {
      return bytes <= net_push_limit;
    }
    return from.type->dense() ? bytes <= push_limit && way_to(peer).streams_to(peer)
                              : bytes <= std::max(push_limit, most_with_gaps);
  }
  static constexpr std::size_t most_with_gaps = std::size_t{1} << 20;
  [[nodiscard]] bool push(operation& op);
  [[nodiscard]] bool push_piece(operation& op, std::size_t n) noexcept;
  [[nodiscard]] bool arrived_push(const fabric::arrival& a);
  void arrived_piece(const fabric::arrival& a) noexcept;
  void lead(inflow& coming, operation& op) noexcept;
  [[nodiscard]] bool take_over(operation& op, matched& m) noexcept;

  // --- receive.cpp ---
  operation* start_receive(channel& in, const buffer& into, comm_rank source, message_tag tag);
  void post(operation& op);
  void post_late(operation& op, comm_rank source, message_tag tag);
  [[gnu::noinline]] void post_held_back();
  [[gnu::noinline]] void await(operation& op);
  // What follows a match cannot be undone, and does not fail: it throws nothing.
  [[gnu::noinline]] void consume(operation& op, matched* m) noexcept;
  void deliver(operation& op, const std::byte* data, std::size_t bytes) noexcept;
  [[gnu::noinline]] void deliver_other(operation& op, const std::byte* data,
                                       std::size_t bytes) noexcept;
  [[gnu::noinline]] void fetch(operation& op, job_rank job_source, std::uint64_t sender_operation,
                               const fabric::remote_address& from, std::size_t bytes) noexcept;
  void prepare(operation& op, std::size_t bytes) noexcept;
  void unpack_whole(operation& op) noexcept;
  void fetched(operation& op) noexcept;
  /// False if there is no memory for it: then nothing has happened.
  [[nodiscard, gnu::noinline]] bool store(matched& m, const fabric::arrival& a,
                                          const std::byte* data, std::size_t bytes) noexcept;
  void discard(matched* m) noexcept;
  [[nodiscard]] bool grow(matched& m, std::size_t bytes) noexcept;
  void drop_heap(matched& m) noexcept;
  [[nodiscard]] bool store_eager(channel& in, const fabric::arrival& a,
                                 const eager_content& what) noexcept;
  /// Adds to what a peer is charged with; without threads, without an atomic instruction.
  std::size_t change(std::atomic<std::size_t>& charged, std::size_t by) const noexcept {
    if (threaded) {
      return charged.fetch_add(by, std::memory_order_relaxed) + by;
    }
    const std::size_t sum = charged.load(std::memory_order_relaxed) + by;
    charged.store(sum, std::memory_order_relaxed);
    return sum;
  }
  [[gnu::noinline]] void throttle(job_rank peer, bool on) noexcept;
  [[gnu::noinline]] match::message* post_among_threads(operation& op);
  /// These answer false if there is no memory for the message, or throw std::bad_alloc: then
  /// nothing has happened. Once one has been matched nothing can fail any more.
  template <bool Sync>
  [[nodiscard, gnu::noinline]] bool arrived_among_threads(channel& in, const fabric::arrival& a);
  void end_eager(operation& op, const fabric::arrival& a, const eager_content& what) noexcept;
  template <bool Threads, bool Sync>
  [[nodiscard]] bool arrived(const fabric::arrival& a);
  template <bool Threads>
  [[gnu::flatten]] static status on_eager(void* self, const fabric::arrival& a) noexcept;
  template <bool Threads>
  static status on_eager_sync(void* self, const fabric::arrival& a) noexcept;
  void take_eager(fabric::endpoint& of);
  struct meeting {
    operation* met;  ///< the receive; or null, and the message is
    bool stored;     ///< or nothing has happened, for want of memory
  };
  template <class Store>
  [[nodiscard]] meeting meet(const fabric::arrival& a, const Store& store_it);
  [[nodiscard]] bool arrived_rts(const fabric::arrival& a);
  /// The handler's answer for a message that found no memory.
  [[nodiscard, gnu::cold, gnu::noinline]] status short_of_memory() noexcept {
    return shortage.again("storing a message that no receive waits for");
  }
  /// A handler that stores messages, by one of the functions above.
  template <bool (state::*Arrived)(const fabric::arrival&)>
  static status on(void* self, const fabric::arrival& a) noexcept;

  // --- outside.cpp ---
  [[nodiscard]] bool is_stranger(job_rank peer) const noexcept { return !peer.below(near_ranks); }
  /// Strangers exist only once far is there. Acquire: it is complete before it is seen.
  [[nodiscard]] fabric::endpoint& way_to(job_rank peer) const noexcept {
    return !is_stranger(peer) ? net : *far.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool is_near(job_rank peer) const { return rt.session().where().is_near(peer); }
  /// Bytes of an eager message to it, packed into a packet.
  [[nodiscard]] std::size_t eager_limit_to(job_rank peer) const noexcept {
    return std::min(eager_limit, way_to(peer).bounds().max_medium);
  }
  /// The same of one that goes whole; 0: none does.
  [[nodiscard]] std::size_t whole_limit_to(job_rank peer) const {
    return is_near(peer) ? 0 : std::min(net_eager_limit, way_to(peer).longest_to(peer));
  }
  /// Whether the death of a rank may be told to operations that have to do with it.
  [[nodiscard]] bool outlives(job_rank peer) const noexcept {
    return survivors != nullptr || is_stranger(peer);
  }
  void set_handler(fabric::handler_id id, fabric::handler h) {
    net.set_handler(id, h, this);
    if (fabric::endpoint* const f = far.load(std::memory_order_acquire); f != nullptr) {
      f->set_handler(id, h, this);
    }
  }
  void open_outside();
  void stranger_lost(job_rank who);
  [[nodiscard]] bool forget_stranger(job_rank who) noexcept;
  [[nodiscard]] fault fault_in_meeting(const match::envelope& wanted);

  // --- tagged.cpp ---
  struct tagged_end {
    operation* op;
    fabric::tagged::ending how;
  };
  /// Collected under tags_lock, and told without it: who waits may start the next operation.
  using tagged_ends = std::vector<tagged_end>;
  void prepare_tags();
  void let_network_match(channel& in);
  void stop_matching(channel& in);
  [[nodiscard]] bool comes_tagged(const channel& in, comm_rank source) const noexcept;
  [[nodiscard]] operation* start_tagged(channel& in, fabric::header head, const buffer& from,
                                        job_rank peer, mode how);
  void tagged_sent(operation& op, const fabric::tagged::ending& how) noexcept;
  [[nodiscard]] match::message* post_across(operation& op);
  void hand_over(operation& op, tagged_ends& ends);
  void bring(channel& in, tagged_ends& ends);
  void bring(channel& in);
  void receive_taken(operation& op, const fabric::tagged::waiting& what,
                     tagged_ends* ends) noexcept;
  void tagged_received(operation& op, const fabric::tagged::ending& how) noexcept;
  void end_all(const tagged_ends& ends) noexcept;
  [[nodiscard]] fabric::tagged::operation& set_part(operation& op) noexcept;
  int look_after_kept();
  void give_away(channel& in, tagged_ends& ends);
  [[nodiscard]] bool cancel_tagged(operation& op);
  void end_tagged_receives(channel& in);

  // --- survive.cpp ---
  /// What becomes of a message to or from `source` (of the communicator) now.
  [[nodiscard]] fault fault_of(const channel& in, comm_rank source) const noexcept;
  [[nodiscard]] bool is_dead(job_rank r) const noexcept;
  void prepare_for_failures();
  int look_for_failures();
  void note_death(job_rank dead);
  [[nodiscard]] bool is_interrupted(const operation& op) const noexcept;
  bool end_posted(operation& op, fault why);
  void end_receives(channel& in);
  void end_sends_to(job_rank peer);
  void end_revoked_sends();
  void end_with(operation& op, fault why) noexcept;
  template <class Which>
  void take_unanswered(std::vector<operation*>& to, Which which);
  void revoke(std::uint32_t context, job_rank by);
  void forget_old_revocation(channel& in, const core::communicator& comm) noexcept;
  void arrived_revoke(const fabric::arrival& a) noexcept;
  [[gnu::cold, gnu::noinline]] bool end_failed(operation& op, job_rank to) noexcept;

  // --- observe.cpp ---
  void take(fabric::endpoint& of, am what, fabric::handler h) {
    plain_handlers[what - am_eager] = h;
    of.set_handler(what, h, this);
  }
  int apply_observation();
  [[gnu::cold, gnu::noinline]] void tell_sent(const operation& op) noexcept;
  template <am What>
  static status observed(void* self, const fabric::arrival& a) noexcept;
  void tell_tagged(const channel& in, const match::envelope& sent, std::size_t bytes,
                   bool stored) noexcept;
  void tell_arrived(am what, const fabric::arrival& a, bool stored) noexcept;

  // --- common ---
  /// Throws std::bad_alloc.
  operation* make(channel* in, const buffer& data) {
    operation* op = operations.get();
    if (op == nullptr) [[unlikely]] {
      no_operation();
    }
    op->reset();
    op->in = in;
    if (data.type->dense()) [[likely]] {
      op->data.base = data.base;
      op->data.count = data.bytes();
      op->data.type = plain_bytes;
    } else {
      keep(*op, data);
    }
    return op;
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void no_operation();
  [[gnu::noinline]] void keep(operation& op, const buffer& data);
  [[gnu::noinline]] void let_go(operation& op);
  void give_back(operation* op) {
    SINEW_EXPECT(op != nullptr && op->data.type != nullptr);
    if (op->data.type != plain_bytes) [[unlikely]] {
      let_go(*op);
    }
    operations.put(op);
  }
  void finish(operation& op) { threaded ? op.complete() : op.complete_alone(); }

  void set_handlers(fabric::endpoint& of);

  core::runtime& rt;
  fabric::endpoint& net;
  /// Ranks that the job's fabric reaches; those behind them are strangers.
  const int near_ranks;
  fabric::tagged* const tags;  ///< null: the network matches nothing
  base::lock tags_lock;        ///< before the locks of matching
  std::vector<channel*> kept;  ///< those that keep all; under tags_lock
  int kept_chore = -1;
  std::atomic<fabric::endpoint*> far{nullptr};  ///< to strangers; made when the first is met
  /// Also where the network matches: what is seldom is looked for on this way only.
  const bool threaded;
  const std::size_t max_short;
  const std::size_t eager_limit;
  const std::size_t at_once_limit;  ///< of bytes that go in a line before their receive is known
  const std::size_t push_limit;
  const std::size_t net_eager_limit;  ///< these two to ranks of other nodes
  const std::size_t net_push_limit;
  const std::size_t unexpected_limit;  ///< bytes per source
  const layout::datatype* const plain_bytes;
  core::pool<operation> operations;
  core::pool<matched> messages;
  /// Bytes of heaps larger than matched::always_kept, of stored messages and of records in the
  /// pool. A bound is all that depends on it, so relaxed.
  std::atomic<std::size_t> large_heaps{0};
  matched* spare = nullptr;           ///< the record the next arrival uses; the poller's own
  std::unique_ptr<slow_bits[]> slow;  ///< by rank in the job, then strangers
  lazy_pages<peer_state> peers;       ///< the same
  /// Communicators of ranks that meet, by the tag of their messages.
  struct meeting_of {
    message_tag tag;
    const core::communicator* comm;
  };
  base::lock meetings_lock;
  std::vector<meeting_of> meetings;
  std::unique_ptr<core::communicator> any_meeting;  ///< stands for them in the channel
  std::vector<job_rank> lost_strangers;             ///< the poller's
  std::atomic<std::uint32_t> strangers_lost{0};     ///< how many so far; a count alone, so relaxed
  base::lock flow_lock;                             ///< guards peer_state but what is atomic
  peer_state* first_listed = nullptr;  ///< those with a backlog, but for whom the poller looks at
  int backlogged_peers = 0;            ///< with those
  base::lock inflow_lock;              ///< guards inflows; before the locks of matching
  std::vector<inflow> inflows;         ///< a few, seldom more than one for each peer
  base::shortage shortage;             ///< the poller's

  static constexpr std::size_t page_contexts = 1024;
  /// Half of the contexts for communicators; as far above each lie those of its partitioned
  /// messages.
  static constexpr std::size_t pages = 8192;
  static constexpr std::size_t first_partitioned = pages / 2 * page_contexts;
  static_assert(pages * page_contexts < 0xffffffff, "no_context is no context");
  static_assert(page_contexts % 2 == 0, "both contexts of a communicator are in one page");
  using page = std::array<std::atomic<channel*>, page_contexts>;
  /// Written under channels_lock with release, read without it with acquire: a channel is complete
  /// before it is seen, and never moves.
  std::unique_ptr<std::atomic<page*>[]> directory;
  /// The channel of the last arrival: the poller's own. Its number is also cleared, by whoever
  /// drops the channel, when no message can be under way in it; so relaxed.
  channel* latest = nullptr;
  std::atomic<std::uint32_t> latest_context{no_context};
  static constexpr std::uint32_t no_context = 0xffffffff;
  base::lock channels_lock;

  /// A blocking receive that is not posted yet: only in a job without threads, and while it would
  /// be the only one in its channel and no message is stored there. The next message is nearly
  /// always the one it waits for, and then matching is left out. Whatever else concerns that
  /// channel posts it first (post_held_back). `held_head` is the header of the message it waits
  /// for.
  fabric::header held_head{{no_context, 0}};
  operation* held_back = nullptr;
  /// A blocking probe that waits; listed for reports only.
  struct probe {
    channel& in;
    match::envelope wanted;
    probe* next = nullptr;
  };
  base::lock probes_lock;
  probe* probes = nullptr;  ///< guarded by probes_lock
  /// Where and for what a probe without waiting has last looked in vain. For reports: relaxed, and
  /// the two need not belong together.
  std::atomic<std::uint32_t> probed_in{no_context};
  std::atomic<std::uint64_t> probed_for{0};

  boot::survival* const survivors;       ///< null: the job ends when a rank dies
  std::vector<job_rank> dead_members;    ///< the poller's
  std::atomic<bool> any_failure{false};  ///< a rank has died, or a context been revoked; relaxed
  int failure_chore = -1;
  bool any_revoked = false;    ///< the poller's, and theirs who revoke: it only lasts too long
  std::int64_t looked_ns = 0;  ///< when operations were last ended for failures; the poller's
  /// Sends that wait for am_matched, kept where ranks may die. Under flow_lock.
  std::vector<operation*> unanswered;

  /// Whom to tell; relaxed: it is followed by `observing`, which the poller sets.
  std::atomic<observer> told{nullptr};
  /// Handlers that tell are installed, and the peers' `observed` bits set. Written by the poller
  /// with release, awaited with acquire: then both are so.
  std::atomic<bool> observing{false};
  int observation_chore = -1;
  std::array<fabric::handler, am_end - am_eager> plain_handlers{};

  /// What matching has cost in channels that are gone: [0] the user's messages, [1] collectives.
  /// Under channels_lock.
  std::array<match::search_counts, 2> past{};
};

inline fabric::header make_header(const channel& in, message_tag tag, comm_rank source) noexcept {
  return {{in.context, std::bit_cast<std::uint64_t>(match::envelope{source, tag})}};
}

inline match::envelope envelope_in(const fabric::header& h) noexcept {
  return std::bit_cast<match::envelope>(h.word[1]);
}

/// Source and tag in one store: whoever copies the result loads them as one word, which has to wait
/// if it was stored in two.
inline void set_envelope(result& r, const fabric::header& h) noexcept {
  static_assert(offsetof(result, tag) == offsetof(result, source) + offsetof(match::envelope, tag));
  std::memcpy(static_cast<void*>(&r), &h.word[1], sizeof(match::envelope));
}
static_assert(offsetof(result, source) == 0 && offsetof(match::envelope, source) == 0);

// The receive that a message meets of which no data has come yet; if there is none, `store_it`
// completes the spare, which the channel given to it now holds, while nobody else can find it. If
// that fails, the channel gives it back.
template <class Store>
engine::state::meeting engine::state::meet(const fabric::arrival& a, const Store& store_it) {
  if (a.head.word[0] == held_head.word[0]) {
    post_held_back();
  }
  channel& in = channel_of(a);
  SINEW_ASSERT(spare != nullptr);
  matched& m = *spare;
  m.sent = envelope_in(a.head);
  const auto look = [&](auto& where) -> meeting {
    auto* const op = static_cast<operation*>(where.arrive(m));
    if (op != nullptr || store_it(in)) {
      return {op, op == nullptr};
    }
    where.withdraw(m);
    return {nullptr, false};
  };
  meeting found{nullptr, false};
  if (threaded) {
    auto held = in.matcher.enter(m.sent);
    found = look(held);
  } else {
    found = look(in.matcher.alone());
  }
  if (found.met != nullptr) {
    found.met->outcome.source = m.sent.source;
    found.met->outcome.tag = m.sent.tag;
  }
  return found;
}

template <bool (engine::state::*Arrived)(const fabric::arrival&)>
status engine::state::on(void* self, const fabric::arrival& a) noexcept {
  auto& s = *static_cast<state*>(self);
  try {
    return (s.*Arrived)(a) ? status::ok() : s.short_of_memory();
  } catch (const std::bad_alloc&) {
    return s.short_of_memory();
  }
}

}  // namespace sinew::p2p
