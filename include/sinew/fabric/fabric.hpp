// SPDX-License-Identifier: BSD-3-Clause
// The fabric contract: what moves bytes between ranks. Back-ends are folders and rows of a table
// (fabric/back_ends.hpp); tests/contract/fabric_contract.hpp runs every promise below on each.
//
// Promises
//  order      active messages from one rank to another are handled in the order they were sent,
//             short and medium alike. Nothing is promised between different pairs, or between
//             active messages and one-sided transfers (use flush, or send after the callback).
//  delivery   exactly once, or the job ends. `retry` means nothing happened.
//  handlers   run inside progress() of the receiving endpoint, one at a time, and must not call
//             progress(), block, or keep `arrival::data` after they return. They may send;
//             a send inside a handler that gets `retry` must be queued by the caller. They throw
//             nothing. One that answers `retry` has done nothing (memory is exhausted, say): its
//             message stays the next of that sender, and a later progress() hands it over again.
//  put, get   `done` / the callback mean: the local buffer is free and, for get, filled; for put,
//             remote visibility is promised by flush(peer) (or by the handler of an active message
//             sent after flush).
//  atomics    atomic against other fabric atomics of the same width on that location.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/base/status.hpp"
#include "sinew/fabric/tagged.hpp"

namespace sinew::fabric {

/// 16 bytes that travel with each active message in its first cache line.
struct header {
  std::uint64_t word[2];
};
static_assert(sizeof(header) == 16);

using handler_id = std::uint8_t;
inline constexpr int max_handlers = 16;

/// An active message as its handler sees it; `head` and `data` die when the handler returns.
struct arrival {
  job_rank source;  ///< rank of the sender
  const header& head;
  const std::byte* data;  ///< `size` bytes, contiguous
  std::size_t size;
};

using handler = status (*)(void* context, const arrival& message) noexcept;

/// Called once from progress() of the endpoint that started the transfer. Throws nothing.
struct callback {
  void (*call)(void* argument) noexcept;
  void* argument;
};

/// Names exposed memory to other ranks; sent by value. Zero words: nothing.
struct remote_key {
  std::uint64_t word[2] = {0, 0};
};
static_assert(std::is_trivially_copyable_v<remote_key>, "it is sent as bytes");

/// Memory at a peer: an address there, and the key under which that peer exposed it.
struct remote_address {
  std::uint64_t address;
  remote_key key;
};

enum class atomic_op : std::uint8_t {
  add,
  fetch_add,
  swap,
  compare_swap,
  fetch_and,
  fetch_or,
  fetch_xor
};

/// One contiguous part of a transfer.
struct piece {
  void* local;
  std::uint64_t remote;  ///< an address at the peer
  std::size_t bytes;
};
enum class direction : std::uint8_t { in, out };
/// What became of a copy without the peer's help.
enum class copied : std::uint8_t {
  done,
  refused,  ///< the system or the distance forbids it: nothing was done; get and put are left
  gone      ///< the peer's process has ended; nothing is promised about the target
};

struct limits {
  std::size_t max_short;   ///< bytes of payload that travel in the first line
  std::size_t max_medium;  ///< bytes of payload of the largest active message to any rank
  bool direct_copy;        ///< get/put of any exposed memory needs no help from its owner
  /// Looks bring nothing that a sleep does not: time passes in sleeps. Who waits sleeps at once.
  bool sleeps_at_once = false;
  bool one_job = false;  ///< ranks of other jobs, and ranks that come later, are not reached
};

/// A buffer inside the fabric, reserved for one medium message: fill `data`, then commit.
struct packet {
  std::byte* data = nullptr;
  std::size_t capacity = 0;
  std::uint64_t token = 0;
};

/// Where a rank posts what concerns the whole job, two words at a time: whoever has started the job
/// hears of them in one order. Any thread. Warm.
class notice_board {
 public:
  virtual void post(const header& words) = 0;

 protected:
  ~notice_board() = default;
};

/// One rank's access to the fabric. Unless said otherwise: any thread, never suspends, hot.
/// Several threads may send at once if the endpoint was opened with `threads = true`;
/// progress() is entered by one thread at a time (the caller's duty).
class endpoint {
 public:
  virtual ~endpoint() = default;

  // --- what every back-end does ---

  [[nodiscard]] virtual job_rank rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  [[nodiscard]] virtual const limits& bounds() const noexcept = 0;
  [[nodiscard]] virtual const char* name() const noexcept = 0;

  /// Before the first progress(). `context` is handed to the handler. Cold.
  virtual void set_handler(handler_id id, handler function, void* context) = 0;

  /// Sends up to longest_to(peer) bytes, copied before return: done or retry. (Takes any size below
  /// that, also one that fits a short message.)
  virtual status send_medium(job_rank peer, handler_id id, header head, const void* data,
                             std::size_t size) = 0;

  /// Handles what has arrived and moves transfers along; returns how many things happened.
  /// One thread at a time. `budget`, at least 1, bounds the active messages handled.
  virtual int progress(int budget) = 0;
  /// Sleeps until something arrives for this rank, wake() is called, or the time is over; returns
  /// at once if something is already there. The thread that calls progress() only. Cold.
  virtual void sleep(std::uint64_t timeout_ns) = 0;
  /// Ends a sleep() of this endpoint; any thread of this rank. Warm.
  virtual void wake() = 0;

  /// Makes [address, address + bytes) reachable by get, put and atomics of every rank. Cold.
  virtual remote_key expose(void* address, std::size_t bytes) = 0;
  virtual void withdraw(const remote_key& key) = 0;

  /// One-sided transfers: done, posted (callback fires) or retry. Warm.
  virtual status put(job_rank peer, const void* local, const remote_address& to, std::size_t bytes,
                     callback when_done) = 0;
  virtual status get(job_rank peer, void* local, const remote_address& from, std::size_t bytes,
                     callback when_done) = 0;
  /// Naturally aligned 4 or 8 bytes; `result` (may be null) receives the old value.
  virtual status atomic(job_rank peer, atomic_op op, const remote_address& at, std::size_t width,
                        std::uint64_t operand, std::uint64_t compare, std::uint64_t* result,
                        callback when_done) = 0;
  /// All puts and atomics to `peer` that completed locally are visible there. done or retry.
  virtual status flush(job_rank peer) = 0;

  // --- what some do faster than the rest can ---

  /// Sends up to max_short bytes: done or retry.
  virtual status send_short(job_rank peer, handler_id id, header head, const void* data,
                            std::size_t size) {
    return send_medium(peer, id, head, data, size);
  }
  /// As send_medium() for what nobody waits for before this rank sends more, like a put: where
  /// messages cost much it may be held back, some 100 us at most, and goes with the next.
  virtual status send_lazily(job_rank peer, handler_id id, header head, const void* data,
                             std::size_t size) {
    return send_medium(peer, id, head, data, size);
  }
  /// A medium message in two steps, so that a caller packs straight into the fabric: at most
  /// max_medium bytes. Every reserved packet is committed (size <= capacity); commit may only retry
  /// for lack of a slot, and is then called again. By default: memory of the caller's, which
  /// send_medium() copies.
  virtual status reserve(job_rank peer, packet& out);
  virtual status commit(job_rank peer, handler_id id, header head, packet& filled,
                        std::size_t size);
  /// Bytes of the longest message to `peer`: max_medium, or more where a message costs so much that
  /// few long ones are better than many. Does not change. Warm.
  [[nodiscard]] virtual std::size_t longest_to(job_rank /*peer*/) const {
    return bounds().max_medium;
  }
  /// A hint that may change at any time: a message of several packets reaches `peer` sooner if it
  /// is sent in packets than if `peer` copies it by get(). Warm.
  [[nodiscard]] virtual bool streams_to(job_rank /*peer*/) { return false; }
  /// Whether `peer` is to be served as a rank of the same node although it shares no memory with
  /// this one: so it is on a node of a simulated network. Does not change. Warm.
  [[nodiscard]] virtual bool is_beside(job_rank /*peer*/) const { return false; }

  // --- what some can do, and the rest cannot ---

  /// Copies from (`in`) or to (`out`) any memory of a peer before it returns, without the peer's
  /// help and without a key, if that is possible. Memory that is not there ends the process. Warm.
  [[nodiscard]] virtual copied copy_now(job_rank /*peer*/, direction /*way*/,
                                        std::span<const piece> /*pieces*/) {
    return copied::refused;
  }
  /// The ranks are threads of one process: copy_now() makes no system call, and what it reads while
  /// another rank writes there is a data race, even if nobody looks at it. Cold.
  [[nodiscard]] virtual bool in_one_process() const noexcept { return false; }
  /// Messages that the network pairs with receives; null where it does not. Cold.
  [[nodiscard]] virtual tagged* tags() noexcept { return nullptr; }

  /// Null where the network brings nothing to whoever has started the job. Cold.
  [[nodiscard]] virtual notice_board* notices() noexcept { return nullptr; }
  /// After a sleep(): no rank of the job can go on any more. Of the thread that sleeps. Cold.
  [[nodiscard]] virtual bool knows_deadlock() const noexcept { return false; }

  /// Of messages and transfers that may be under way while neither side has anything to do.
  struct traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;  ///< and handled

    [[nodiscard]] bool operator==(const traffic&) const = default;
  };
  /// This rank's counts so far. While those of all ranks stay the same and their sums are equal,
  /// nothing is under way. By memory what is sent is there at once: zeros. Nothing: it is not
  /// known, or something of this rank's is. The thread that calls progress() only. Cold.
  [[nodiscard]] virtual std::optional<traffic> far_traffic() { return std::nullopt; }

  struct distance_listener {
    void (*call)(void* argument, bool far) noexcept;
    void* argument;
  };
  /// From now on progress() calls `to` when it brings something from another node (`far`) after
  /// something from this one, and the other way round. Before the first progress(). Cold.
  virtual void tell_distance(distance_listener /*to*/) {}

  // --- what those see to whose ranks come, end and die apart from each other ---

  /// Whether messages to `peer` go to that tenant of its place. If not, progress() sees to it once
  /// the tenant is there, and the caller asks again meanwhile. Before the first message to a rank
  /// that did not start with this one, unless that rank has sent one. Any thread. Cold.
  [[nodiscard]] virtual bool meet(job_rank /*peer*/, std::uint32_t /*tenant*/) { return true; }
  /// `peer` has died, and this rank goes on: from now on messages and transfers to it end as if
  /// they had been done, those under way at the next progress(); what a get or an atomic of them
  /// was to bring is undefined. What had come from it before is handled yet. Again: nothing. The
  /// thread that calls progress() only. Cold.
  virtual void give_up(job_rank /*peer*/) {}
  /// This rank sends nothing any more, and expects nothing: returns when what it has sent no longer
  /// needs this process, and does not mind from now on when peers end. The thread that calls
  /// progress() only. Cold.
  virtual void leave() {}
};

/// A node's memory may have places that are free at the start, and are taken later by one rank
/// after another: tenants, which each place counts from 1. The ranks of the start are its tenants
/// 0.
inline constexpr std::uint32_t whoever_is_there = ~std::uint32_t{0};

/// Where an shm endpoint lives: one zero-filled mapping shared by the ranks of the node.
struct node_memory {
  std::byte* base;             ///< local rank r's part begins at base + r * bytes_per_rank
  std::size_t bytes_per_rank;  ///< at least shm_bytes_per_rank(local_size)
  job_rank rank;               ///< of the job
  sinew::local_rank local_rank;
  std::vector<job_rank>
      local_ranks;       ///< ranks of the job on this node, ascending; the whole job today
  bool crowded = false;  ///< more ranks than processors: they sleep often, so cheaply
  /// Of the places, those taken at the start, from 0 on; the same on all ranks. 0: all.
  int started = 0;
  std::uint32_t tenant = 0;  ///< which of its place this rank is
  /// Other tenants that this rank knows of; of free places it knows none.
  std::vector<std::pair<job_rank, std::uint32_t>> tenants = {};
};
/// `started`: as above. The other places cost addresses, and no memory until they are used.
[[nodiscard]] std::size_t shm_bytes_per_rank(int local_size, int started = 0);

/// Opens this rank's endpoint; each local rank calls it once, in any order, without waiting for
/// the others (what a peer has not set up yet answers `retry`). Cold.
[[nodiscard]] std::unique_ptr<endpoint> open_shm(const node_memory& where, bool threads);

/// `ranks` endpoints inside this process, for tests, tools and jobs of one rank. They refer to
/// shared state that lives as long as the last of them.
[[nodiscard]] std::vector<std::unique_ptr<endpoint>> open_inproc(int ranks, bool threads);

}  // namespace sinew::fabric
