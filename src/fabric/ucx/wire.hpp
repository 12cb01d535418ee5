// SPDX-License-Identifier: BSD-3-Clause
// What travels between two ranks over UCX: one kind of active message, with this in front of its
// data; as UCX's own header only where the data lie elsewhere, since UCX sends header and data by a
// slower way than data alone.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric::ucx {

inline constexpr std::size_t max_short_bytes = 40;
inline constexpr std::size_t max_medium_bytes = 8192;
/// Over tcp a message costs some 10 us whatever it holds, so one of 64 KiB beats eight of 8.
inline constexpr std::size_t max_long_bytes = 65536;

/// Longer messages go by themselves; and of those that may wait.
inline constexpr std::size_t most_batched_bytes = 2048;
inline constexpr std::size_t most_gathered_bytes = 6016;

/// Messages to one rank that it has not handled yet, at most: so many places of max_medium_bytes.
inline constexpr std::uint32_t window = 128;
[[nodiscard]] constexpr std::uint32_t places_of(std::size_t bytes) noexcept {
  return bytes <= max_medium_bytes
             ? 1
             : static_cast<std::uint32_t>((bytes + max_medium_bytes - 1) / max_medium_bytes);
}
static_assert(places_of(max_long_bytes) <= window / 4, "several long ones fit");
/// Puts to one rank that it has not acknowledged yet, at most.
inline constexpr std::uint32_t most_puts = 64;
/// Gets of one rank under way, at most; and atomics.
inline constexpr std::uint32_t most_requests = 256;

enum class kind : std::uint8_t {
  message,       ///< of a user of the fabric: handled in the order of its number
  batch,         ///< several of them, which take one number
  counts,        ///< nothing but the counts that are in every header
  put,           ///< payload: the data. word[0]: the address there, word[1]: the key
  get,           ///< the same words; payload: the number of bytes
  get_data,      ///< answers the get `request`; payload: the data
  atomic,        ///< the same words; `id`: the operation; payload: `operands`
  atomic_result  ///< answers the atomic `request`; word[0]: the old value
};
inline constexpr std::uint8_t kinds = 8;

/// Numbers and counts are modulo 2^32: the window is far smaller.
struct wire {
  std::uint32_t source;     ///< rank of the sender
  std::uint32_t number;     ///< of a message's first place, from 0 for each pair of ranks
  std::uint32_t consumed;   ///< places of the receiver's messages that the sender has handled
  std::uint32_t puts_done;  ///< puts of the receiver that are visible in the sender's memory
  std::uint32_t request;    ///< of a get or atomic, or its answer
  kind what;
  handler_id id;
  std::uint16_t format;  ///< wire_format
  header head;
};
static_assert(std::is_trivially_copyable_v<wire> && sizeof(wire) == 40);

/// Among ranks of several jobs the sender's name comes before it; `source` is nothing there.
inline constexpr std::size_t named_wire_bytes = sizeof(wire) + sizeof(std::uint64_t);
static_assert(named_wire_bytes % 16 == 0, "data behind it are aligned as memory is");

inline constexpr std::uint16_t wire_format = 0x5302;

struct operands {
  std::uint64_t operand;
  std::uint64_t compare;
  std::uint64_t width;
};
static_assert(std::is_trivially_copyable_v<operands>);

}  // namespace sinew::fabric::ucx
