// SPDX-License-Identifier: BSD-3-Clause
// What travels between ranks, and what is kept of a message that waits for its receive.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "sinew/base/ids.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/match/engine.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

/// Active messages of p2p. Header of the first three, and of am_push: the lower half of word 0 is
/// the context, the upper one may say of which kinds the data are (layout::kinds_in); word 1 is the
/// envelope (the sender's rank in the communicator and the tag). Of the others: word 0 names the
/// sender's operation.
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
  am_fault,       ///< as the first three, without data, and the upper half of word 0 says why
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

/// Of a message that comes in pieces.
struct announcement {
  std::uint64_t operation;  ///< address of the sender's operation, a name only
  std::uint64_t bytes;
};
static_assert(std::is_trivially_copyable_v<announcement>);

/// A message that arrived before its receive: data, or an RTS.
struct matched : match::message {
  enum class way : std::uint8_t { eager, rts, pushed, tagged, fault };
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
  fault why = fault::none;   ///< that there are no data, of a fault
  std::uint32_t kinds = 0;   ///< of the data, if its sender has said it
  std::uint64_t number = 0;  ///< incident::number, where somebody is told
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

inline std::uint32_t context_in(const fabric::header& h) noexcept {
  return static_cast<std::uint32_t>(h.word[0]);
}
inline std::uint32_t kinds_in(const fabric::header& h) noexcept {
  return static_cast<std::uint32_t>(h.word[0] >> 32);
}
inline void say_kinds(fabric::header& h, std::uint32_t kinds) noexcept {
  h.word[0] |= static_cast<std::uint64_t>(kinds) << 32;
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

}  // namespace sinew::p2p
