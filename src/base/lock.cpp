// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/lock.hpp"

#include "sinew/base/futex.hpp"
#include "sinew/base/spin.hpp"

namespace sinew::base {

void lock::acquire_slowly() noexcept {
  for (int i = 0; i < 100; ++i) {
    if (word_.load(std::memory_order_relaxed) == 0 && try_acquire()) {
      return;
    }
    // Wait: for a holder inside a few dozen instructions.
    cpu_relax();
  }
  // From here the word is left at 2, so whoever releases wakes one sleeper.
  while (word_.exchange(2, std::memory_order_acquire) != 0) {
    // Wait: the same.
    futex_wait(word_, 2);
  }
}

void lock::wake_one() noexcept { futex_wake(word_, 1); }

}  // namespace sinew::base
