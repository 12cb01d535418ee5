// SPDX-License-Identifier: BSD-3-Clause
// The other ranks: the endpoint that leads to each, how long a message to it may be that goes
// before its receive is known, and what keeps a send from going straight to the fabric.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "p2p/message.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/core/outside.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

/// Why sends to a rank do not go straight to the fabric, which every send asks. Relaxed, since a
/// stale value is harmless: `throttled` is advice, and a thread sees its own `backlogged` at once,
/// which is all that MPI's order asks.
class slow_bits {
 public:
  static constexpr std::uint8_t throttled = 1;   ///< it has too many unexpected messages of ours
  static constexpr std::uint8_t backlogged = 2;  ///< sends wait in our backlog, which sets it
  static constexpr std::uint8_t observed = 4;    ///< sends are told to an observer
  static constexpr std::uint8_t failing = 8;     ///< sends ask failure_watch first
  static constexpr std::uint8_t dead = 16;       ///< it has died; by the poller
  static constexpr std::uint8_t stranger = 32;   ///< of another job: not over the job's fabric
  static constexpr std::uint8_t tagged = 64;     ///< the network may match messages to it
  static constexpr std::uint8_t kinds = 128;     ///< messages say of which kinds their data are

  [[nodiscard]] std::uint8_t get() const noexcept { return bits_.load(std::memory_order_relaxed); }
  void set(std::uint8_t bits) noexcept { bits_.fetch_or(bits, std::memory_order_relaxed); }
  void clear(std::uint8_t bits) noexcept {
    bits_.fetch_and(static_cast<std::uint8_t>(~bits), std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint8_t> bits_{0};
};
static_assert(sizeof(slow_bits) == 1);  // docs/internals/scale.md: there is one for each rank

/// Has no lock: all is set once, but for what is atomic. Ranks of other jobs, the strangers, have
/// the numbers behind those that the job's fabric reaches, and an endpoint of their own. Any
/// thread.
class peer_table {
 public:
  explicit peer_table(core::runtime& rt);

  /// Data with gaps are pushed up to this length on one node in any case: they would be packed,
  /// fetched and unpacked one after the other.
  static constexpr std::size_t most_with_gaps = std::size_t{1} << 20;

  /// The usual send, straight to the fabric: false if it cannot be, and nothing has happened. Hot.
  [[nodiscard, gnu::always_inline]] bool send_eager(job_rank peer, fabric::header head,
                                                    const buffer& from, std::size_t bytes) {
    if (bytes > eager_limit_ || slow_[peer.index()].get() != 0) [[unlikely]] {
      return false;
    }
    if (!from.type->dense()) [[unlikely]] {
      return send_packed(peer, head, from, bytes);
    }
    return bytes <= max_short_ ? net_.send_short(peer, am_eager, head, from.base, bytes).done()
                               : net_.send_medium(peer, am_eager, head, from.base, bytes).done();
  }
  /// Whether that is one line of dense data, and nothing keeps it. Hot.
  [[nodiscard]] bool takes_line(job_rank peer, const buffer& from, std::size_t bytes) const {
    return bytes <= at_once_limit_ && from.type->dense() && slow_[peer.index()].get() == 0;
  }

  [[nodiscard]] job_rank self() const noexcept { return self_; }
  /// Numbers of ranks, those of strangers included: the entries of a table by rank.
  [[nodiscard]] int size() const noexcept { return near_ranks_ + core::outside::room; }
  [[nodiscard]] bool is_stranger(job_rank peer) const noexcept { return !peer.below(near_ranks_); }
  /// Strangers exist only once their endpoint is there. Acquire: it is complete before it is seen.
  [[nodiscard]] fabric::endpoint& endpoint_to(job_rank peer) const noexcept {
    return !is_stranger(peer) ? net_ : *far_.load(std::memory_order_acquire);
  }
  /// On the same node.
  [[nodiscard]] bool is_near(job_rank peer) const {
    return where_.is_near(peer) || endpoint_to(peer).is_beside(peer);
  }
  /// Of the job's own fabric.
  [[nodiscard]] fabric::endpoint& network() const noexcept { return net_; }
  [[nodiscard]] slow_bits& slow(job_rank peer) const noexcept {
    SINEW_EXPECT(peer.below(size()));
    return slow_[peer.index()];
  }
  [[nodiscard]] bool is_dead(job_rank r) const noexcept {
    return (slow(r).get() & slow_bits::dead) != 0;
  }
  /// Whether the death of a rank may be told to operations that have to do with it.
  [[nodiscard]] bool outlives(job_rank peer) const noexcept {
    return survives_ || is_stranger(peer);
  }
  [[nodiscard]] bool outlives_any() const noexcept { return survives_ || has_strangers(); }

  // --- how long a message may be that goes before its receive is known ---

  /// Packed into a packet.
  [[nodiscard]] std::size_t eager_limit_to(job_rank peer) const noexcept {
    return std::min(eager_limit_, endpoint_to(peer).bounds().max_medium);
  }
  /// In one message of the network; 0: none does.
  [[nodiscard]] std::size_t whole_limit_to(job_rank peer) const {
    return is_near(peer) ? 0 : std::min(net_eager_limit_, endpoint_to(peer).longest_to(peer));
  }
  /// In pieces.
  [[nodiscard]] bool can_push(job_rank peer, const buffer& from) const;

  /// Word 0 is 1: send an RTS, do not push, until 0 comes. In the poller.
  void arrived_throttle(const fabric::arrival& a) noexcept;

  /// From now on messages to the job's ranks say of which kinds their data are.
  void tell_kinds() noexcept;

  // --- strangers ---

  [[nodiscard]] bool has_strangers() const noexcept {
    return far_.load(std::memory_order_relaxed) != nullptr;
  }
  /// Their endpoint. Once.
  void open_strangers(fabric::endpoint& far) noexcept;
  /// On every endpoint that there is.
  void set_handler(fabric::handler_id id, fabric::handler h, void* context);

 private:
  [[nodiscard, gnu::noinline]] bool send_packed(job_rank peer, fabric::header head,
                                                const buffer& from, std::size_t bytes);

  fabric::endpoint& net_;
  const boot::place& where_;
  const job_rank self_;
  const int near_ranks_;
  const bool survives_;  ///< the job goes on when a rank dies
  const std::size_t max_short_;
  const std::size_t eager_limit_;
  const std::size_t at_once_limit_;  ///< of bytes that go in a line before their receive is known
  const std::size_t push_limit_;
  const std::size_t net_eager_limit_;  ///< these two to ranks of other nodes
  const std::size_t net_push_limit_;
  std::unique_ptr<slow_bits[]> slow_;  ///< by rank in the job, then strangers
  std::atomic<fabric::endpoint*> far_{nullptr};
};

}  // namespace sinew::p2p
