// SPDX-License-Identifier: BSD-3-Clause
// System calls about priorities and processors, which name threads by number.
#pragma once

namespace sinew::threads {

enum class scheduling : unsigned char {
  of_kernel,  ///< to be made
  ignored     ///< to be answered with 0: it would change a worker for the sake of one fiber
};

/// What to do with this system call about `thread` (or, of priorities, `second`). Where gettid()
/// gave the number to a fiber, that becomes 0: the kernel thread that calls. Any system call.
[[nodiscard]] scheduling scheduling_of_fiber(long number, long& thread, long& second) noexcept;

}  // namespace sinew::threads
