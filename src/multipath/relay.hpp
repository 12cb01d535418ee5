// SPDX-License-Identifier: BSD-3-Clause
// A path at one of the ranks that it visits, and the words by which neighbours on it agree.
#pragma once

#include <cstdint>

#include "sinew/base/ids.hpp"
#include "sinew/multipath/transfer.hpp"

namespace sinew::multipath {

/// The module's words in each rank's block; all are zero at first.
struct block_head {
  alignas(64) std::uint64_t summary;  ///< bit b: some word of marks w with w % 63 == b has a bit
  alignas(64) std::uint64_t verdict;  ///< not 0: a rank gave up; see pack_verdict
  alignas(64) std::uint64_t beat;     ///< counts while its owner waits in a call
  std::uint64_t done;                 ///< calls that its owner has left
};
inline constexpr std::uint32_t summary_words = 63;  ///< bit 63 is the alarm: look at `verdict`
inline constexpr std::uint64_t alarm = std::uint64_t{1} << 63;

/// Two lines for each relay. Chunks are numbered through all calls.
struct relay_lines {
  alignas(64) std::uint64_t arrived;  ///< by the rank before: chunks that it has put here
  /// By the rank after: it takes chunks with lower numbers.
  alignas(64) std::uint64_t limit;
  /// By the last rank of the path, before it raises `limit` for a call: where in its heap the
  /// path's bytes of this call begin, or 0: they go to its ring.
  std::uint64_t target;
};

/// Where the neighbour's side of a path lies.
struct neighbour {
  job_rank rank = -1;
  std::uint32_t bit = 0;    ///< its relay's number there
  std::uint64_t lines = 0;  ///< offset of its relay_lines
  std::uint64_t ring = 0;
};

struct transfer::relay {
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< of the path in its message
  job_rank source = 0;
  job_rank destination = 0;
  neighbour before;  ///< rank -1: this is the first rank
  neighbour after;   ///< rank -1: this is the last
  bool after_is_last = false;
  std::uint64_t lines = 0;
  std::uint64_t ring = 0;
  std::uint64_t stride = 0;  ///< of slots, all along the path
  std::uint64_t chunks = 0;  ///< in each call

  std::uint64_t moved = 0;  ///< chunks that have left here (or have come to their end), ever
  std::uint64_t end = 0;    ///< of this call, in the same count
  bool direct = false;      ///< the rank before writes into the receive buffer
  bool queued = false;

  [[nodiscard]] bool first() const noexcept { return before.rank < 0; }
  [[nodiscard]] bool last() const noexcept { return after.rank < 0; }
};

}  // namespace sinew::multipath
