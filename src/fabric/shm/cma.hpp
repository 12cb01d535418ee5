// SPDX-License-Identifier: BSD-3-Clause
// Copies between the memories of two processes through the kernel (cross memory attach).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric::shm {

/// False where the kernel forbids it (errno tells); nothing is promised about the target then.
/// One system call as a rule: about 2 us plus the copy. Warm.
[[nodiscard]] bool read_process(pid_t from, void* local, std::uint64_t remote,
                                std::size_t bytes) noexcept;
[[nodiscard]] bool write_process(pid_t to, const void* local, std::uint64_t remote,
                                 std::size_t bytes) noexcept;

/// Many pieces, many of them in one system call. Null, or the first piece that could not be moved.
[[nodiscard]] const piece* read_process(pid_t from, std::span<const piece> pieces) noexcept;
[[nodiscard]] const piece* write_process(pid_t to, std::span<const piece> pieces) noexcept;

}  // namespace sinew::fabric::shm
