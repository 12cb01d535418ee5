// Copies between the memories of two processes through the kernel (cross memory attach).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace sinew::fabric::shm {

/// False where the kernel forbids it (errno tells); nothing is promised about the target then.
/// One system call as a rule: about 2 us plus the copy. Warm.
[[nodiscard]] bool read_process(pid_t from, void* local, std::uint64_t remote,
                                std::size_t bytes) noexcept;
[[nodiscard]] bool write_process(pid_t to, const void* local, std::uint64_t remote,
                                 std::size_t bytes) noexcept;

}  // namespace sinew::fabric::shm
