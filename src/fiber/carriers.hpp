// Spare kernel threads, and the stacks and thread-local storage on which they wait for work.
#pragma once

#include <atomic>
#include <cstdint>

#include "fiber/lazy_memory.hpp"
#include "sinew/fiber/carrier.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

class worker;

/// Where a kernel thread without a worker waits: each was made with one, but any may wait in any,
/// since a thread that left its worker finds that of the spare which took its place empty. So there
/// are as many of them without a thread as fibers that are away.
struct berth {
  static constexpr std::size_t stack_bytes = 64 * 1024;

  berth() : stack(stack_bytes) {}

  lazy_memory stack;             ///< entered at its top each time
  std::uintptr_t base = 0;       ///< thread pointer
  berth* next = nullptr;         ///< in carriers::spare
  worker* work = nullptr;        ///< written before `called`
  fiber* arrived = nullptr;      ///< who came on the thread that has just entered
  worker* arrived_at = nullptr;  ///< the worker that is to run it
  /// 1 when there is `work` (release), 0 again by the thread that takes it (acquire).
  std::atomic<std::uint32_t> called{0};
  /// No thread uses it: set (release) on the stack of the worker that its thread went to, seen
  /// (acquire) by who enters.
  std::atomic<bool> empty{false};
};

struct carriers {
  spin_lock lock;
  berth* spare = nullptr;  ///< with a thread that waits; under the lock
  /// Any in `spare`? A hint for the thread that makes them, so relaxed.
  std::atomic<bool> any{false};
  make_carrier make = nullptr;  ///< null: not enabled

  [[nodiscard]] berth* take() noexcept;
  void put(berth& b) noexcept;
};

}  // namespace sinew::fiber
