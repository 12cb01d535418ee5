// SPDX-License-Identifier: BSD-3-Clause
// Messages that arrive before their receives: the records in which they are stored, their memory,
// and what is held of it against each sender, who is told to stop pushing when it has too much.
#pragma once

#include <atomic>
#include <cstddef>

#include "p2p/lazy_pages.hpp"
#include "p2p/message.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/base/status.hpp"
#include "sinew/core/pool.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::p2p {

class peer_table;
class sender;

/// The pool has locks; what is counted is atomic. A record belongs to whoever got it until it is
/// put back or discarded; meanwhile a channel may list it. Invariant: what is charged to a sender
/// is the sum of `charged` of the records that hold its messages.
class unexpected_messages {
 public:
  /// Throws std::bad_alloc.
  unexpected_messages(core::runtime& rt, const peer_table& peers, sender& sends, bool threaded);

  /// A record; null if there is no memory. Hot.
  [[nodiscard]] matched* get() noexcept { return messages_.get(); }
  void put(matched* m) noexcept { messages_.put(m); }
  /// Completes `m`, which a channel lists now: its lock keeps others from finding it. Data that are
  /// still to come have room in it. Returns the record for the next message; null if there is no
  /// memory, and nothing has happened. In the poller. Hot.
  [[nodiscard, gnu::noinline]] matched* keep(matched& m, const fabric::arrival& a,
                                             const std::byte* data, std::size_t bytes) noexcept;
  /// Its message is gone. Any thread. Hot.
  void discard(matched* m) noexcept;
  /// Another rank may get that number. False if messages of it are still here.
  [[nodiscard]] bool forget(job_rank r) noexcept;
  /// What a handler answers to a message that finds no memory. In the poller.
  [[nodiscard, gnu::cold, gnu::noinline]] status short_of_memory() noexcept {
    return shortage_.again("storing a message that no receive waits for");
  }

 private:
  /// Of one sender. Counted without a lock: each change decides by the sum that it made, see
  /// throttle(). Relaxed: no other data hangs on them.
  struct account {
    std::atomic<std::size_t> charged{0};  ///< bytes of its messages here
    std::atomic<bool> throttled{false};   ///< it has been told so
  };

  /// Without threads, without an atomic instruction. The sum.
  std::size_t change(std::atomic<std::size_t>& charged, std::size_t by) const noexcept {
    if (threaded_) {
      return charged.fetch_add(by, std::memory_order_relaxed) + by;
    }
    const std::size_t sum = charged.load(std::memory_order_relaxed) + by;
    charged.store(sum, std::memory_order_relaxed);
    return sum;
  }
  [[gnu::noinline]] void throttle(job_rank peer, account& its, bool on) noexcept;
  [[nodiscard]] bool grow(matched& m, std::size_t bytes) noexcept;
  void drop_heap(matched& m) noexcept;

  core::pool<matched> messages_;
  sender& sends_;
  const std::size_t limit_;            ///< bytes per sender
  lazy_pages<account, 128> accounts_;  ///< by rank
  /// Bytes of heaps larger than matched::always_kept, of stored messages and of records in the
  /// pool. A bound is all that depends on it, so relaxed.
  std::atomic<std::size_t> large_heaps_{0};
  base::shortage shortage_;  ///< the poller's
  const bool threaded_;
};

}  // namespace sinew::p2p
