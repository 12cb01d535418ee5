// SPDX-License-Identifier: BSD-3-Clause
// A fiber's control block. It lies at the top of the fiber's stack, next to its first frames.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fiber/annotations.hpp"
#include "sinew/base/completion.hpp"
#include "sinew/fiber/fiber.hpp"

namespace sinew::fiber {

inline constexpr std::uint32_t nobody = UINT32_MAX;
inline constexpr std::uint64_t nowhere = UINT64_MAX;
inline constexpr std::uint64_t canary_value = 0x5ca1ab1e0ddba11dULL;

struct local_values;

/// Two cache lines. The first is written by the owning worker at each switch; the second is what
/// others read to signal the fiber, and it stays shared between them.
class alignas(64) fiber {
 public:
  // Used by every switch; owner and `doing` are read by others.
  void* sp = nullptr;
  void* low = nullptr;                        ///< the lowest address its stack may use
  const std::uint64_t* canary = &own_canary;  ///< intact until something ran over `low`
  std::uintptr_t thread_base = 0;             ///< 0: the worker's
  std::atomic<std::uint32_t> owner{nobody};   ///< worker whose bits mean it, while it lives
  std::uint8_t stack_class = 0;
  /// Until nothing uses its stack any more: then (release) whoever joins may give the slot away.
  std::atomic<bool> alive{false};
  bool reaped = false;  ///< nobody joins: the slot is given away as soon as it ends
  std::atomic<const char*> doing{nullptr};  ///< why it waits, in words
  union {
    void (*entry)(void*) = nullptr;
    fiber* next;  ///< while the slot is free
  };
  union {
    void* argument = nullptr;
    fiber* next_batch;  ///< while the slot is free
  };

  // Used to signal, to join, to report.
  /// owner << 32 | position in that worker's sets of ready fibers. Written (release) before the
  /// fiber can be found by anybody, set to `nowhere` when it ends; whoever reads an old value wakes
  /// another fiber for nothing.
  std::atomic<std::uint64_t> place{nowhere};
  completion done;
  waiter reaper;           ///< attached to `done` if nobody will join
  std::uint32_t slot = 0;  ///< its number, for good
  char name[16] = {};
  /// Of a fiber with a thread pointer of its own: the kernel's number of the thread that it has for
  /// itself, 0 while it is with a worker; a hint for others, so relaxed. Of the others: 1 once it
  /// has been cancelled, which ends its waits (sequentially consistent, see sleeper::wait()).
  std::atomic<std::uint32_t> apart{0};
  union {
    local_values* locals = nullptr;  ///< values of fiber-local storage
    fiber* next_fresh;               ///< while it may be stolen: it has not started
  };
  [[no_unique_address]] annotations notes;
  /// For a stack without guard page `canary` points to this word in the block of the slot below it:
  /// the last of that block, so the first to be run over.
  std::uint64_t own_canary = canary_value;

  static fiber& of_reaper(waiter& w) noexcept;
};

// offsetof is for classes of standard layout only, says the standard; compilers know this one too.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
inline fiber& fiber::of_reaper(waiter& w) noexcept {
  return *reinterpret_cast<fiber*>(reinterpret_cast<std::byte*>(&w) - offsetof(fiber, reaper));
}
#pragma GCC diagnostic pop

}  // namespace sinew::fiber
