// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/unexpected.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "p2p/operation.hpp"
#include "p2p/peers.hpp"
#include "p2p/send.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::p2p {
namespace {

constexpr std::size_t least_unexpected_limit = std::size_t{256} << 10;

setting<std::int64_t> unexpected_bytes(
    "p2p", "unexpected_limit", std::int64_t{64} << 20, "bytes",
    "unexpected messages a rank holds before it makes their senders wait",
    {.least = least_unexpected_limit, .most = most_setting_bytes});

/// A stream that its receiver follows late would allocate and free for each message, and the system
/// would take the memory back in between: at 4 us a page, 64 KiB took 30 us instead of 6.
constexpr std::size_t most_large_heaps = std::size_t{4} << 20;

}  // namespace

unexpected_messages::unexpected_messages(core::runtime& rt, const peer_table& peers, sender& sends,
                                         bool threaded)
    : messages_(threaded),
      sends_(sends),
      limit_(std::max(least_unexpected_limit, static_cast<std::size_t>(unexpected_bytes()) /
                                                  static_cast<std::size_t>(rt.size()))),
      accounts_(static_cast<std::size_t>(peers.size())),
      threaded_(threaded) {}

bool unexpected_messages::grow(matched& m, std::size_t bytes) noexcept {
  drop_heap(m);
  m.heap.reset(new (std::nothrow) std::byte[std::bit_ceil(bytes)]);
  if (m.heap == nullptr) {
    return false;
  }
  m.heap_bytes = std::bit_ceil(bytes);
  if (m.heap_bytes > matched::always_kept) {
    large_heaps_.fetch_add(m.heap_bytes, std::memory_order_relaxed);
  }
  return true;
}

void unexpected_messages::drop_heap(matched& m) noexcept {
  if (m.heap_bytes > matched::always_kept) {
    large_heaps_.fetch_sub(m.heap_bytes, std::memory_order_relaxed);
  }
  m.heap.reset();
  m.heap_bytes = 0;
}

matched* unexpected_messages::keep(matched& m, const fabric::arrival& a, const std::byte* data,
                                   std::size_t bytes) noexcept {
  SINEW_EXPECT(m.in != nullptr);
  account* const its = accounts_.make(a.source.index());
  matched* const next = its != nullptr ? messages_.get() : nullptr;
  if (next == nullptr) {
    return nullptr;
  }
  m.bytes = bytes;
  m.job_source = a.source;
  m.charged = 0;
  if (m.how != matched::way::rts) {
    m.charged = sizeof(matched);
    std::byte* at = m.small.data();
    if (bytes > matched::inline_bytes) {
      if (m.heap_bytes < bytes && !grow(m, bytes)) {
        messages_.put(next);
        return nullptr;
      }
      m.charged += std::bit_ceil(bytes);
      at = m.heap.get();
    }
    if (data != nullptr) {
      copy_out(at, data, bytes);
    }
    if (change(its->charged, m.charged) > limit_ && !its->throttled.load(std::memory_order_relaxed))
        [[unlikely]] {
      throttle(a.source, *its, true);
    }
  }
  SINEW_ENSURE(bytes <= matched::inline_bytes || m.how == matched::way::rts ||
               m.heap_bytes >= bytes);
  return next;
}

// Several threads may be here at once, for and against. Whoever changed `throttled` says so, and
// looks again afterwards: what was said last is then what holds.
void unexpected_messages::throttle(job_rank peer, account& its, bool on) noexcept {
  bool said = !on;
  if (!its.throttled.compare_exchange_strong(said, on, std::memory_order_seq_cst)) {
    return;
  }
  for (said = !on; its.throttled.load(std::memory_order_seq_cst) != said;) {
    said = !said;
    sends_.control(peer, am_throttle, {{said ? 1U : 0U, 0}});
  }
}

void unexpected_messages::discard(matched* m) noexcept {
  SINEW_EXPECT(m != nullptr && m->in != nullptr);
  if (m->charged != 0) {
    account* const its = accounts_.find(m->job_source.index());
    SINEW_ASSERT(its != nullptr && its->charged.load(std::memory_order_relaxed) >= m->charged);
    if (change(its->charged, 0 - m->charged) < limit_ / 2 &&
        its->throttled.load(std::memory_order_relaxed)) [[unlikely]] {
      throttle(m->job_source, *its, false);
    }
    m->charged = 0;
    if (m->heap_bytes > matched::always_kept &&
        large_heaps_.load(std::memory_order_relaxed) > most_large_heaps) {
      drop_heap(*m);
    }
  }
  messages_.put(m);
}

bool unexpected_messages::forget(job_rank r) noexcept {
  account* const its = accounts_.find(r.index());
  if (its != nullptr && its->charged.load(std::memory_order_relaxed) != 0) {
    return false;
  }
  if (its != nullptr) {
    its->throttled.store(false, std::memory_order_relaxed);
  }
  return true;
}

}  // namespace sinew::p2p
