// SPDX-License-Identifier: BSD-3-Clause
// Waiting for what nobody will tell us about: other processes, files.
#pragma once

#include "abi/threads/parking_lot.hpp"

namespace sinew::threads {

/// Suspends a fiber, blocks a thread. Returns at the moment or later.
void sleep_until(moment until) noexcept;

/// The same for a fiber of the program, until somebody interrupts it.
[[nodiscard]] woken wait_interruptibly(const char* why, moment until) noexcept;

/// First lets others run, then sleeps between looks: 20 us, then twice as long each time up to
/// 1 ms.
class backoff {
 public:
  void wait() noexcept;
  [[nodiscard]] moment now() const noexcept;

 private:
  unsigned looks_ = 0;
  std::uint64_t nap_ns_ = 20'000;
};

}  // namespace sinew::threads
