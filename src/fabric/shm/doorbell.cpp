// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/shm/doorbell.hpp"

#include <climits>

#include "sinew/base/futex.hpp"

namespace sinew::fabric::shm {
namespace {

// Shared, not private: owner and sender are different processes.
void wake_owner(std::atomic<std::uint32_t>& word) noexcept {
  base::futex_wake(word, INT_MAX, base::within::machine);
}

}  // namespace

void await_bell(std::atomic<std::uint32_t>& word, std::uint64_t timeout_ns) noexcept {
  // Wait: bounded; the waits of core call it, and watch.
  base::futex_wait(word, bell_armed, timeout_ns, base::within::machine);
}

void ring_bell(std::atomic<std::uint32_t>& word) noexcept {
  std::uint32_t expected = bell_armed;
  // Of several senders that saw it armed, one makes the system call.
  if (word.compare_exchange_strong(expected, bell_awake, std::memory_order_acq_rel)) {
    wake_owner(word);
  }
}

void nudge_bell(std::atomic<std::uint32_t>& word) noexcept {
  if (word.exchange(bell_nudged, std::memory_order_acq_rel) == bell_armed) {
    wake_owner(word);
  }
}

}  // namespace sinew::fabric::shm
