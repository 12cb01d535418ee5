// SPDX-License-Identifier: BSD-3-Clause
// What lies where in the shared memory of a node. Everything here is touched by several processes;
// it holds no pointers, only offsets, and is valid when zero-filled.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric::shm {

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t max_short_bytes = 40;
inline constexpr std::size_t max_medium_bytes = 8192;
/// One line more than the payload, so that the packets' first lines spread over the cache sets.
inline constexpr std::size_t packet_stride = max_medium_bytes + line_bytes;
inline constexpr int max_local_ranks = 8192;
inline constexpr int tickets_per_rank = 64;

/// What a slot carries. `inner` kinds are the fabric's own messages (see one_sided.hpp).
enum class slot_kind : std::uint8_t { short_message, medium, inner_short, inner_medium };

/// One message. The producer fills it and stores `word` last (release); the consumer loads `word`
/// (acquire) and never writes. The tag differs from lap to lap, so a slot needs no clearing.
struct alignas(line_bytes) slot {
  std::atomic<std::uint64_t> word;
  header head;
  std::byte payload[max_short_bytes];

  /// Word by word, from registers. Moved as one wide value it may go through the stack, in two
  /// halves, and a load that spans two stores waits until all stores before it are done: also
  /// those to the slots before, each of which must first be had from the consumer's cache.
  void set_head(header h) noexcept {
    std::atomic_ref(head.word[0]).store(h.word[0], std::memory_order_relaxed);
    std::atomic_ref(head.word[1]).store(h.word[1], std::memory_order_relaxed);
  }
};
static_assert(sizeof(slot) == line_bytes &&
              offsetof(slot, payload) + max_short_bytes == line_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "several processes touch it");

/// slot::word: tag 32 | size 14 | handler 4 | kind 3 | acknowledgement 11.
/// The acknowledgement is the low bits of how many slots the sender of this message has consumed
/// from its peer: it returns ring credit and packets without a cache line of their own.
namespace slot_word {
inline constexpr std::uint64_t ack_mask = (1u << 11) - 1;
inline constexpr std::size_t size_mask = 0x3fff;
static_assert(max_medium_bytes <= size_mask && max_handlers <= 16);
static_assert(static_cast<unsigned>(slot_kind::inner_medium) < 8);

[[nodiscard]] inline std::uint64_t make(std::uint32_t tag, slot_kind kind, std::uint8_t id,
                                        std::size_t size, std::uint64_t consumed) noexcept {
  SINEW_EXPECT(size <= size_mask && id < 16);
  return std::uint64_t{tag} | (std::uint64_t{size} << 32) | (std::uint64_t{id} << 46) |
         (static_cast<std::uint64_t>(kind) << 50) | ((consumed & ack_mask) << 53);
}
[[nodiscard]] inline std::uint32_t tag(std::uint64_t w) noexcept {
  return static_cast<std::uint32_t>(w);
}
[[nodiscard]] inline std::size_t size(std::uint64_t w) noexcept { return (w >> 32) & size_mask; }
[[nodiscard]] inline unsigned id(std::uint64_t w) noexcept { return (w >> 46) & 0xf; }
[[nodiscard]] inline slot_kind kind(std::uint64_t w) noexcept {
  return static_cast<slot_kind>((w >> 50) & 0x7);
}
/// The count of which the word carries the low bits, given an earlier value of it.
[[nodiscard]] inline std::uint64_t consumed(std::uint64_t w, std::uint64_t earlier) noexcept {
  return earlier + (((w >> 53) - earlier) & ack_mask);
}
}  // namespace slot_word

/// How far a consumer has got; the producer looks only when it runs out of what it knows.
struct alignas(line_bytes) credit {
  std::atomic<std::uint64_t> head;
  /// The producer's, once: the number of its first slot, and (release) which tenant it is.
  std::uint64_t first;
  std::atomic<std::uint32_t> opener;
};

/// A get under way, in the getter's part. `cursor` = generation 24 | offset 40: the next byte that
/// no side has taken on. Getter and source advance it by compare-and-swap, so that an advance of a
/// ticket that has since been reused fails. `done` counts bytes that the source wrote by itself.
struct ticket {
  alignas(line_bytes) std::atomic<std::uint64_t> cursor;
  alignas(line_bytes) std::atomic<std::uint64_t> done;
};
static_assert(sizeof(ticket) == 2 * line_bytes && sizeof(credit) == line_bytes);

/// First pages of a part.
struct control {
  /// The layout's signature; stored last (release) when the owner has set up.
  alignas(line_bytes) std::atomic<std::uint64_t> ready;
  std::uint64_t base;           ///< where the owner has mapped the node memory
  std::uint64_t nonce_address;  ///< of a private word of the owner, which holds `nonce`:
  std::uint64_t nonce;          ///< proves that `pid` names the owner from where we look
  std::int32_t pid;
  std::uint32_t needs_fence;  ///< the owner cannot order its sleep by itself (doorbell.hpp)
  /// Which of the part's owners this is (tenants.cpp); stored last of all (release).
  std::atomic<std::uint32_t> tenant;
  /// See doorbell.hpp.
  alignas(line_bytes) std::atomic<std::uint32_t> bell;
  /// Counts rings opened towards the owner; `opened` says by which local ranks.
  alignas(line_bytes) std::atomic<std::uint32_t> announce;
  alignas(line_bytes) std::atomic<std::uint64_t> opened[max_local_ranks / 64];
  /// A bit for each local rank to which the owner had better not stream (distance.hpp). A hint,
  /// relaxed: a rank that gets from the owner reads it, and either way is right.
  alignas(line_bytes) std::atomic<std::uint64_t> far[max_local_ranks / 64];
};

/// Offsets inside a part; the same for all parts of a node.
struct part_layout {
  /// `started`: see node_memory. Sizes follow it, so that free places change nothing.
  explicit part_layout(int local_size, int started = 0);

  std::uint32_t slots;    ///< per ring; a power of two
  std::uint32_t packets;  ///< per rank
  std::size_t tickets_at;
  std::size_t credits_at;
  std::size_t rings_at;
  std::size_t packets_at;
  std::size_t bytes;
  std::uint64_t signature;
};

/// One rank's part as this process sees it.
struct part {
  std::byte* at = nullptr;
  const part_layout* shape = nullptr;

  [[nodiscard]] control& state() const noexcept {
    SINEW_EXPECT(at != nullptr && reinterpret_cast<std::uintptr_t>(at) % line_bytes == 0);
    return *reinterpret_cast<control*>(at);
  }
  [[nodiscard]] ticket* tickets() const noexcept {
    return reinterpret_cast<ticket*>(at + shape->tickets_at);
  }
  [[nodiscard]] credit* credit_for(local_rank sender) const noexcept {
    SINEW_EXPECT(sender.below(max_local_ranks));
    return reinterpret_cast<credit*>(at + shape->credits_at) + sender.index();
  }
  [[nodiscard]] slot* ring_from(local_rank sender) const noexcept {
    SINEW_EXPECT(sender.below(max_local_ranks));
    return reinterpret_cast<slot*>(at + shape->rings_at) + sender.index() * shape->slots;
  }
  [[nodiscard]] std::byte* packets() const noexcept { return at + shape->packets_at; }
};

}  // namespace sinew::fabric::shm
