// A fence that others pay for: after everywhere() every thread of this process has executed a full
// barrier. So a hot path that orders a store before a load with a rare visitor needs none itself.
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sinew::core::membarrier {

/// Announces this process; false where the kernel does not offer it. Repeatable. Cold.
[[nodiscard]] inline bool available() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/// Some microseconds. Only after available() has said yes. Warm.
inline void everywhere() noexcept {
  (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace sinew::core::membarrier
