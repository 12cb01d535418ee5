// The two futex calls, private to this process.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace sinew::fiber {

/// Sleeps while `word` is `expected`, at most `timeout_ns` (UINT64_MAX: without limit); may return
/// early.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint64_t timeout_ns) noexcept {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000U);
  limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000U);
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected,
            timeout_ns == UINT64_MAX ? nullptr : &limit, nullptr, 0);
}

/// Uses the address only: the word may be gone.
inline void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace sinew::fiber
