// SPDX-License-Identifier: BSD-3-Clause
// Long copies from this process's memory to a heap, and the fences.
#include "rma/copy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "rma/cheaper_way.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::rma {
namespace {

// What another core has written and holds in its own cache costs the reader 5 to 40 ns a line, from
// memory 2, and the writer as much again when it next writes there. So a put of 16 KiB or more into
// what the other rank reads is done sooner around the caches, by 2 to 13 times, and into what it
// does not read through them, by 2 times. Only the program knows which; the writer's time tells.
setting<std::int64_t> stream_from("rma", "stream_from", 0, "bytes",
                                  "from this size on puts go around the caches (0: whenever that "
                                  "has cost less, from 16 KiB on)",
                                  {.least = 0, .most = most_setting_bytes}, setting_use::each_use);

// By lines: for these sizes memcpy is the processor's string move, which is slower by 10%.
constexpr std::size_t learn_from = std::size_t{16} << 10;

/// By powers of two of the size, beginning with `learn_from`; the last one for all longer ones. Of
/// each thread, so that nothing is shared.
constinit thread_local std::array<cheaper_way, 12> ways;

cheaper_way& way_of(std::size_t bytes) noexcept {
  SINEW_EXPECT(bytes >= learn_from);
  return ways[std::min<std::size_t>(
      ways.size() - 1, static_cast<std::size_t>(std::bit_width(bytes / learn_from)) - 1)];
}

}  // namespace

void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes < learn_from) [[likely]] {
    copy_bytes(to, from, bytes);
    return;
  }
  if (const std::int64_t limit = stream_from(); limit != 0) {
    bytes < static_cast<std::size_t>(limit) ? copy_lines(to, from, bytes)
                                            : copy_past_caches(to, from, bytes);
    return;
  }
  cheaper_way& way = way_of(bytes);
  const std::uint64_t begin = ticks();
  if (way.second()) {
    copy_past_caches(to, from, bytes);
  } else {
    copy_lines(to, from, bytes);
  }
  way.note((ticks() - begin) * learn_from / bytes);
}

void engine::move_long(std::byte* to, const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) {
    copy(to, static_cast<const std::byte*>(from), bytes);
  }
}

void engine::store_fence() noexcept {
#if defined(__aarch64__)
  asm volatile("dmb ishst" ::: "memory");
#elif !defined(__x86_64__)
  __sync_synchronize();
#endif  // x86-64: stores are seen in order, and copy() has fenced those that are not
}

void engine::full_fence() noexcept {
#if defined(__x86_64__)
  asm volatile("lock; orl $0, (%%rsp)" ::: "memory", "cc");  // half the time of mfence
#elif defined(__aarch64__)
  asm volatile("dmb ish" ::: "memory");
#else
  __sync_synchronize();
#endif
}

}  // namespace sinew::rma
