// SPDX-License-Identifier: BSD-3-Clause
// Sleeping on a word until somebody changes it: the kernel's futex calls, in one place.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinew::base {

/// Who may sleep on a word and wake its sleepers.
enum class within : std::uint8_t {
  process,  ///< threads of this process: cheaper
  machine,  ///< all processes that map the memory
};

/// As a time limit: none.
inline constexpr std::uint64_t no_limit = UINT64_MAX;

/// Sleeps while `word` is `expected`, at most `timeout_ns` (0: not at all); may return early, so
/// look at the word again. Orders no memory: the caller's own look at the word has to. Threads
/// only: it blocks a worker with all its fibers. Warm.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::uint64_t timeout_ns = no_limit, within who = within::process) noexcept;

/// Wakes at most `count` sleepers. Uses the address only: the word may be gone. Any context.
/// Warm.
void futex_wake(const std::atomic<std::uint32_t>& word, int count,
                within who = within::process) noexcept;

}  // namespace sinew::base
