// SPDX-License-Identifier: BSD-3-Clause
// What excludes others: accumulates, compare-and-swap, locks. On this node by the words of the
// target's record, else by asking the target (requests.cpp).
#include <sched.h>

#include <cstring>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/window/memory.hpp"

namespace sinew::window {

void exclusion::wait(const memory& in) noexcept {
  constexpr int patience = 200;
  for (int i = 0;; ++i) {
    std::uint32_t holder = word_.load(std::memory_order_relaxed);
    if (holder != 0 && i >= patience) {
      holder = in.losses_.is_dead(job_rank::of_index(holder - 1)) ? holder : 0;
    } else if (holder != 0) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      continue;
    }
    if (word_.compare_exchange_strong(holder, in.excluder_, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
      return;
    }
    if (i >= patience) {
      // Wait: another rank combines elements, and waits for nothing meanwhile.
      ::sched_yield();
    }
  }
}

bool memory::combine(int rank, place at, const p2p::buffer& there, const coll::op& op,
                     const std::byte* from, std::byte* before) const {
  SINEW_EXPECT(there.type->base() != layout::element::none && there.bytes() != 0);
  const bool changes = op.kind != coll::op_kind::no_op;
  if (needs_flush(rank)) {
    ask_to_combine(rank, at.there, there, op.kind, changes ? from : nullptr, before);
    return true;
  }
  const layout::datatype& one = layout::of(there.type->base());
  std::ptrdiff_t done = 0;  // bytes
  bool reached = true;
  std::vector<std::byte> copy;
  const exclusion alone(*this, of(rank));
  layout::for_each_leaf(
      *there.type, there.count, [&](std::ptrdiff_t offset, std::size_t n, layout::element) {
        const p2p::buffer elements{nullptr, n, &one};
        const place run = at.here != nullptr
                              ? place{at.here + offset, 0}
                              : place{nullptr, at.there + static_cast<std::uint64_t>(offset)};
        std::byte* now = run.here;
        if (now == nullptr) {
          copy.resize(n * static_cast<std::size_t>(one.extent()));
          now = copy.data();
          reached = read(rank, run, {now, n, &one}, elements) && reached;
        }
        if (before != nullptr) {
          layout::copy(one, n, now, one, n, before + done);
        }
        if (changes) {
          op.apply(from + done, now, n, one);
          reached = (run.here != nullptr || write(rank, run, {now, n, &one}, elements)) && reached;
        }
        done += static_cast<std::ptrdiff_t>(n) * one.extent();
      });
  return reached;
}

bool memory::compare_swap(int rank, place at, const layout::datatype& type, const void* value,
                          const void* expected, void* before) const {
  const std::size_t n = type.size();
  SINEW_EXPECT(n != 0 && n <= longest_word);
  if (needs_flush(rank)) {
    ask_to_compare_swap(rank, at.there, n, value, expected, before);
    return true;
  }
  std::byte now[longest_word]{};
  const p2p::buffer there{nullptr, 1, &type};
  const exclusion alone(*this, of(rank));
  bool reached = read(rank, at, {now, 1, &type}, there);
  if (reached && std::memcmp(now, expected, n) == 0) {
    reached = write(rank, at, {const_cast<void*>(value), 1, &type}, there);
  }
  std::memcpy(before, now, n);
  return reached;
}

}  // namespace sinew::window
