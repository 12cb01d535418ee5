// SPDX-License-Identifier: BSD-3-Clause
// Spare kernel threads, and the stacks and thread-local storage on which they wait for work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fiber/hand_over.hpp"
#include "fiber/lazy_memory.hpp"
#include "sinew/base/steps.hpp"
#include "sinew/fiber/carrier.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

class worker;

/// Where a kernel thread without a worker waits: each was made with one, but any may wait in any,
/// since a thread that left its worker finds that of the spare which took its place empty. So there
/// are as many of them without a thread as fibers that are away.
struct berth : basic_berth<real_steps, worker, fiber> {
  static constexpr std::size_t stack_bytes = 64 * 1024;

  berth() : stack(stack_bytes) {}

  lazy_memory stack;        ///< entered at its top each time
  std::uintptr_t base = 0;  ///< thread pointer
};

struct carriers {
  berth_list<spin_lock, berth> spare;
  make_carrier make = nullptr;  ///< null: not enabled
};

}  // namespace sinew::fiber
