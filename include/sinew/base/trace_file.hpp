// SPDX-License-Identifier: BSD-3-Clause
// How a rank's trace lies in its file: the head, then records. For whoever gathers them.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinew::trace {

inline constexpr std::uint64_t file_mark = 0x31'45'43'41'52'54'53ULL;  // "STRACE1" backwards

struct file_head {
  std::uint64_t mark;
  std::int32_t rank;
  std::uint32_t process;
  std::uint64_t room;  ///< records that fit
  /// Records asked for; more than `room` if some were dropped. Handing out a place needs no order:
  /// the file is read when its rank has ended.
  std::atomic<std::uint64_t> used;
  std::uint64_t unused[4];
};

struct file_record {
  std::int64_t begin_ns;  ///< of now_ns(): the same clock on all ranks of a node
  std::int64_t end_ns;
  std::uint64_t id;
  std::uint64_t value;
  std::uint32_t thread;  ///< counted from 1 in each rank; 0: the record was never finished
  std::uint8_t what;     ///< trace::kind
  char shape;            ///< 'b' may overlap others, 'X' may not, 'i' no length
  char name[26];         ///< ends in 0 if shorter
};
static_assert(sizeof(file_head) == 64 && sizeof(file_record) == 64);

}  // namespace sinew::trace
