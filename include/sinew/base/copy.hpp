// SPDX-License-Identifier: BSD-3-Clause
// Copies that memcpy does badly: where its instruction is slow, and past the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sinew {

/// Below it a copy is over before any of this tells.
inline constexpr std::size_t least_odd_copy = 2048;

/// Whether the processor's copy instruction, with which memcpy and the kernel move a few KiB and
/// more, is 10 to 30 times slower than else (AMD: 3 GB/s): its stores look like those from which
/// its next loads must take their values, for the addresses' low 12 bits are all that is compared
/// at first. Hot.
[[nodiscard]] inline bool copies_oddly(std::uintptr_t to, std::uintptr_t from) noexcept {
  const std::uintptr_t ahead = (to - from) % 4096;
  return ahead > 0 && ahead < 16;
}

/// A copy by plain loads and stores, a line of the target at a time. Warm.
void copy_lines(void* to, const void* from, std::size_t n) noexcept;

/// The same by stores that go past the caches and drop what is there of the target; a fence at the
/// end, since such stores are ordered by nothing else, not even by a later release. Warm.
void copy_past_caches(void* to, const void* from, std::size_t n) noexcept;

/// memcpy, but as fast for all addresses. `n` may be 0, then with null pointers too. Any context.
/// Hot.
inline void copy_bytes(void* to, const void* from, std::size_t n) noexcept {
  if (n >= least_odd_copy && copies_oddly(reinterpret_cast<std::uintptr_t>(to),
                                          reinterpret_cast<std::uintptr_t>(from))) [[unlikely]] {
    copy_lines(to, from, n);
  } else if (n != 0) {
    std::memcpy(to, from, n);
  }
}

}  // namespace sinew
