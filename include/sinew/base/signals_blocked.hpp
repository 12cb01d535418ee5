// SPDX-License-Identifier: BSD-3-Clause
// While a thread of our own is made, or runs code of ours: the program's handlers must not run in a
// thread that it does not know.
#pragma once

#include <cstdint>

namespace sinew::base {

/// All signals but the C library's own are blocked in the calling thread while it lives; threads
/// made meanwhile begin so.
/// By the system call, since pthread_sigmask() is a fiber's where threads are fibers. Cold.
class signals_blocked {
 public:
  signals_blocked() noexcept;
  ~signals_blocked();
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  std::uint64_t before_ = 0;  ///< the kernel's set of signals
};

}  // namespace sinew::base
