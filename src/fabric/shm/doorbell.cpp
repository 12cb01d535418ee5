#include "fabric/shm/doorbell.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace sinew::fabric::shm {

bool register_for_membarrier() noexcept {
  const long known = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  constexpr long needed =
      MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
  return known >= 0 && (known & needed) == needed &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void membarrier_everywhere() noexcept {
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void futex_sleep(std::atomic<std::uint32_t>& word, std::uint64_t timeout_ns) noexcept {
  timespec limit;
  limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000u);
  limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000u);
  // Shared, not private: the waker is another process.
  syscall(SYS_futex, &word, FUTEX_WAIT, static_cast<std::uint32_t>(bell_armed), &limit, nullptr, 0);
}

namespace {
void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}
}  // namespace

void ring_bell(std::atomic<std::uint32_t>& word) noexcept {
  std::uint32_t expected = bell_armed;
  // Of several senders that saw it armed, one makes the system call.
  if (word.compare_exchange_strong(expected, bell_awake, std::memory_order_acq_rel)) {
    futex_wake(word);
  }
}

void nudge_bell(std::atomic<std::uint32_t>& word) noexcept {
  if (word.exchange(bell_nudged, std::memory_order_acq_rel) == bell_armed) {
    futex_wake(word);
  }
}

}  // namespace sinew::fabric::shm
