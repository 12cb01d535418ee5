// SPDX-License-Identifier: BSD-3-Clause
// One send or receive under way, and the pool that it comes from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "p2p/channel.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/core/pool.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/layout/datatype.hpp"
#include "sinew/match/engine.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

class network_matching;
class operation_pool;
class receiver;

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
  operation* next = nullptr;            ///< in a queue of the backlog
  receiver* fetches = nullptr;          ///< of a `get`: who goes on when its data are here
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
  bool steered = false;      ///< a receive from any source is posted for one (steering.hpp)
  bool away = false;         ///< a receive listed in its channel's `away`; network_matching's
  /// What the network has of it.
  struct tagged_part : fabric::tagged::operation {
    p2p::operation* self = nullptr;
    network_matching* by = nullptr;
  };
  tagged_part part;

  /// A receive from any source that no message has met. Set before it is posted; who sees that too
  /// late reports the death of a rank, of which it has heard, too early. So relaxed.
  std::atomic<bool> unmatched{false};

  [[nodiscard]] bool is_from_any() const noexcept {
    return wanted.source == match::any_source || steered;
  }

  /// Gives the operation back, if it is released before its end.
  struct orphan_waiter : core::waiter {
    operation* self = nullptr;
    operation_pool* home = nullptr;
  } orphan;
};

/// The type of dense data, whatever the user's was.
inline const layout::datatype* const plain_bytes = &layout::of(layout::element::byte);

/// Most messages are a few words: two overlapping moves beat a call.
inline void copy_out(void* to, const std::byte* from, std::size_t n) noexcept {
  if (n == 8) {
    std::memcpy(to, from, 8);
  } else {
    copy_bytes(to, from, n);
  }
}

/// A receive learns how long its message is that does not come at once.
void learn_length(operation& op, std::size_t bytes) noexcept;
/// Unpacks an eager message into its receive, as much as there is room for.
[[gnu::noinline]] void unpack_eager(operation& op, const std::byte* data,
                                    std::size_t bytes) noexcept;
/// Copies an eager message into its receive, which has not ended yet. Hot.
inline void copy_eager(operation& op, const std::byte* data, std::size_t bytes) noexcept {
  SINEW_EXPECT(!op.in->exact_length.load(std::memory_order_relaxed) || bytes == op.data.bytes());
  if (op.data.type == plain_bytes && bytes <= op.data.count) [[likely]] {
    op.outcome.bytes = bytes;
    op.outcome.sent_bytes = bytes;
    op.outcome.error = fault::none;
    copy_out(op.data.base, data, bytes);
  } else {
    unpack_eager(op, data, bytes);
  }
}
/// What came packed goes to its place.
void unpack_whole(operation& op) noexcept;

static_assert(sizeof(request) + sizeof(match::receive) + sizeof(buffer) + 2 * sizeof(void*) <= 128);

/// Where operations come from. The pool has the locks; nothing else here changes. Any thread.
class operation_pool {
 public:
  explicit operation_pool(bool threaded) : operations_(threaded), threaded_(threaded) {}

  /// Throws std::bad_alloc. Hot.
  [[nodiscard]] operation* make(channel* in, const buffer& data) {
    operation* op = operations_.get();
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
  /// A word to another rank: it has no data, and nobody waits for it. Null if there is no memory.
  [[nodiscard]] operation* make_word() noexcept;
  /// Hot.
  void give_back(operation* op) {
    SINEW_EXPECT(op != nullptr && op->data.type != nullptr);
    if (op->data.type != plain_bytes) [[unlikely]] {
      let_go(*op);
    }
    operations_.put(op);
  }
  /// When it ends, if it has not.
  void give_back_later(operation& op);
  /// Its owner may take it back at once. Hot.
  void finish(operation& op) { threaded_ ? op.complete() : op.complete_alone(); }
  /// Visits all, also those that are not in use. Cold.
  template <class Visit>
  void each(Visit visit) {
    operations_.each(visit);
  }
  /// With a fault, without its data.
  void fail(operation& op, fault why) noexcept {
    op.packed.reset();
    op.outcome.error = why;
    finish(op);
  }
  /// The data of a send in one piece: where they are, or packed. Throws std::bad_alloc, and the
  /// operation is given back then.
  [[nodiscard]] void* whole(operation& op, const buffer& from);

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void no_operation();
  [[gnu::noinline]] static void keep(operation& op, const buffer& data);
  [[gnu::noinline]] static void let_go(operation& op);

  core::pool<operation> operations_;
  const bool threaded_;
};

}  // namespace sinew::p2p
