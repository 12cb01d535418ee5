// SPDX-License-Identifier: BSD-3-Clause
// Long copies from this process's memory to a heap.
#pragma once

#include <cstddef>

namespace sinew::rma {

/// memcpy, around the caches if it is long. Later ordinary stores are not seen before it.
void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

}  // namespace sinew::rma
