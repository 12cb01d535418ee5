// SPDX-License-Identifier: BSD-3-Clause
// Copies into memory that another processor has read or will read: by which instructions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/base/copy.hpp"

namespace sinew::fabric::shm {

/// Below it the copy instruction's start costs more than it saves: messages of 4 KiB took 540 ns by
/// moves into the packet used last, 1,090 by the instruction into one long unused; of 7,000 bytes
/// 960 and 910 (medians over the states of a host whose processors drift apart and together).
inline constexpr std::size_t least_string_copy = 6144;

/// The processor's own copy instruction takes lines over without reading them first, and asks for
/// many at once: 64 KiB took 2.8 us, where moves of registers took 5.0 (50 ns apart).
inline void copy_out(std::byte* to, const void* from, std::size_t n) noexcept {
#if defined(__x86_64__)
  if (n >= least_string_copy &&
      !copies_oddly(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from))) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
    return;
  }
#endif
  copy_bytes(to, from, n);
}

}  // namespace sinew::fabric::shm
