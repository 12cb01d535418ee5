// SPDX-License-Identifier: BSD-3-Clause
// What a polling loop does between two looks.
#pragma once

namespace sinew {

/// Tells the core that this is a spin loop: saves power, frees the sibling hyperthread, and avoids
/// the penalty of leaving the loop on a mis-speculated load. No memory ordering. Any context. Hot.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

}  // namespace sinew
