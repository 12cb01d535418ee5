// SPDX-License-Identifier: BSD-3-Clause
// The memory by which ranks and a simulator hand over to each other: the back-end `sim` is one side
// of it, module sim the other one. Time here is virtual: nanoseconds since the job began.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sinew/base/check.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric::virtual_world {

/// The variable that tells a rank the inherited descriptor of this memory.
inline constexpr const char* descriptor_variable = "SINEW_BOOT_WORLD_FD";

inline constexpr std::int64_t never = INT64_MAX;
inline constexpr std::size_t longest_message = 8192;
inline constexpr std::size_t ring_bytes = std::size_t{64} << 10;
/// Messages from one rank to another that the latter has not taken; then the former is refused.
inline constexpr std::uint32_t most_under_way = 256;

/// In front of each message in a ring. The payload follows, padded to `record_align`.
struct alignas(16) record {
  std::uint32_t peer;  ///< to whom, from whom; `wrap`: the rest of the ring is unused; `launcher`
  std::uint32_t size;
  std::uint32_t id;   ///< handler_id; `credit`: `size` messages to `peer` have been taken
  std::int64_t time;  ///< when it was sent, when it has come
  header head;
};
inline constexpr std::uint32_t wrap = UINT32_MAX;
inline constexpr std::uint32_t credit = UINT32_MAX;
inline constexpr std::uint32_t launcher = UINT32_MAX - 1;  ///< to whom notices go
inline constexpr std::size_t record_align = 16;
static_assert(sizeof(record) % record_align == 0);
static_assert(4 * (sizeof(record) + longest_message) <= ring_bytes);

/// Messages in one direction. One writer and one reader, each with a count of bytes that only grows
/// (release by who has written or read, acquire by the other one).
struct ring {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::byte bytes[ring_bytes];

  [[nodiscard]] static std::size_t record_bytes(std::size_t payload) noexcept {
    return (sizeof(record) + payload + record_align - 1) / record_align * record_align;
  }
  /// The writer's. Room for a record, which put() completes; null: not now.
  [[nodiscard]] record* reserve(std::size_t payload) noexcept;
  void put(const record& reserved) noexcept;
  /// The reader's. The next record, until pop(); null: none.
  [[nodiscard]] record* front() noexcept;
  void pop(const record& taken) noexcept;
};

/// Whose turn it is.
enum class turn : std::uint32_t { simulator, rank };
/// What a rank hands over for. While it sleeps, messages that come do not give it the turn. One
/// that has left may return: it then has no turn to hand over, and waits for one.
enum class reason : std::uint32_t { waits, sleeps, leaves, returns };

/// How long a rank has waited in calls of one name, in virtual time.
struct wait_sum {
  char call[40];  ///< cut, and ended by 0; empty: this one is not in use
  std::int64_t ns;
};
/// The last one is that of all further calls.
inline constexpr std::size_t wait_sums = 32;

/// What one rank and the simulator tell each other. `state` says whose turn it is (sequentially
/// consistent, with head::running). The turn orders what the two write here, but for wake(), by
/// which another thread of the rank takes a turn that the simulator has not given: then the
/// simulator may read some words of this hand-over and some of the next one. Invariant: it reads
/// `hand_overs` first (acquire), which the rank writes last (release), and so sees that it has to
/// read again. All the rest is relaxed.
struct port {
  alignas(64) std::atomic<std::uint32_t> state;  ///< a `turn`; the rank sleeps on it
  std::atomic<std::uint32_t> joined;             ///< the rank has opened it (release, acquire)
  std::int32_t process;                          ///< the rank's, before `joined`
  std::atomic<std::uint64_t> hand_overs;         ///< so far
  std::atomic<reason> why;                       ///< of the last one
  std::atomic<std::uint32_t> refused;            ///< a send was, since the last one
  std::atomic<std::uint32_t> full;               ///< a send found no room in `out` since then
  std::atomic<std::uint32_t> news;               ///< a notice was shown, since the last sleep
  std::atomic<std::uint32_t> report;             ///< the simulator asks what the rank waits for
  std::atomic<std::int64_t> now;                 ///< when the turn begins
  std::atomic<std::int64_t> local;               ///< the rank's time when it hands over
  std::atomic<std::int64_t> until;               ///< when it wants its turn back at the latest
  // Written before the ranks begin.
  std::int64_t send_ns, receive_ns;  ///< a rank's own time for a message to, from another node
  std::int64_t beside_ns;            ///< the same to and from a rank of its own node
  double compute;                    ///< virtual time for each of the processor
  std::int64_t dies_at;              ///< its process ends itself then; or never
  wait_sum waits[wait_sums];         ///< the rank's; read once it has left
  ring out, in;
};

struct head {
  /// Ranks that have the turn. Whoever brings it to 0 wakes the simulator, which sleeps on it.
  /// Sequentially consistent, with `state`: the simulator takes no turn for handed over before the
  /// rank has said all.
  alignas(64) std::atomic<std::uint32_t> running;
  std::atomic<std::uint32_t> woken;  ///< turns that ranks have taken by wake(), returns
  std::uint32_t ranks;
  std::uint32_t ranks_on_a_node;  ///< in blocks of consecutive ones
  std::uint64_t layout;           ///< `this_layout` of who has made it
};
/// Programs that were linked to another Sinew have another one, if it is changed with what stands
/// here.
inline constexpr std::uint64_t this_layout = std::uint64_t{sizeof(port)} << 32 | 6;

/// The head has a page, and each port has whole pages behind it.
inline constexpr std::size_t page = 4096;
inline constexpr std::size_t port_bytes = (sizeof(port) + page - 1) / page * page;
static_assert(sizeof(head) <= page);

[[nodiscard]] inline std::size_t bytes_for(int ranks) noexcept {
  return page + static_cast<std::size_t>(ranks) * port_bytes;
}
[[nodiscard]] inline head& head_of(std::byte* memory) noexcept {
  return *reinterpret_cast<head*>(memory);
}
[[nodiscard]] inline port& port_of(std::byte* memory, std::size_t rank) noexcept {
  return *reinterpret_cast<port*>(memory + page + rank * port_bytes);
}

/// This rank's endpoint over memory that a simulator has prepared. Cold.
[[nodiscard]] std::unique_ptr<endpoint> open_at(std::byte* memory, job_rank rank);

}  // namespace sinew::fabric::virtual_world
