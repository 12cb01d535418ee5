// SPDX-License-Identifier: BSD-3-Clause
// How an endpoint sleeps and how others wake it: one word in its part of the node memory.
//
// The word: awake, armed (the owner sleeps or is about to), nudged (wake() came; the next sleep
// returns at once).
//
// A sender publishes a slot and then looks at the word; the owner arms the word and then looks at
// its rings. If both could look before the other's store was visible, a wake-up would be lost, so
// one full barrier is needed on each side. The sender's is taken off the hot path: the owner
// calls membarrier (base/membarrier.hpp) after arming, which makes every running thread of every
// registered process pass a full barrier somewhere between our arming and our look. A sender's
// look at the word is either after that barrier (it sees `armed`) or before it; then its slot,
// stored earlier in program order, is visible to our look. So senders need only keep the compiler
// from swapping the two. Where a process cannot register, it fences each time as a sender; where
// it cannot call membarrier as an owner, `needs_fence` in its control page tells all senders to.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinew::fabric::shm {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a futex in shared memory");

enum bell_state : std::uint32_t { bell_awake = 0, bell_armed = 1, bell_nudged = 2 };

/// Waits while the word is `armed`, at most so long. Cold.
void await_bell(std::atomic<std::uint32_t>& word, std::uint64_t timeout_ns) noexcept;
/// Ends the owner's sleep if it is armed. Warm.
[[gnu::noinline]] void ring_bell(std::atomic<std::uint32_t>& word) noexcept;
/// The same for wake(): also a sleep that has not begun. Warm.
void nudge_bell(std::atomic<std::uint32_t>& word) noexcept;

/// Orders everything before against everything after. Not std::atomic_thread_fence, which
/// ThreadSanitizer does not support.
inline void full_fence() noexcept {
#if defined(__x86_64__)
  asm volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dmb ish" ::: "memory");
#else
  __sync_synchronize();
#endif
}

/// For a sender that has just published something for the owner of `word`. Hot.
inline void after_publishing(std::atomic<std::uint32_t>& word, bool fence) noexcept {
  if (fence) [[unlikely]] {
    full_fence();
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (word.load(std::memory_order_relaxed) == bell_armed) [[unlikely]] {
    ring_bell(word);
  }
}

}  // namespace sinew::fabric::shm
