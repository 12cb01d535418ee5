// SPDX-License-Identifier: BSD-3-Clause
// Sets of signals as one word: signal n is bit n - 1, as in the kernel.
#pragma once

#include <signal.h>

#include <cstdint>
#include <cstring>

namespace sinew::threads {

/// The signal by which glibc cancels who blocks; its headers hide it.
inline constexpr int glibc_cancels = 32;

constexpr std::uint64_t bit_of(int number) noexcept { return std::uint64_t{1} << (number - 1); }

[[nodiscard]] inline std::uint64_t bits_of(const sigset_t& set) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, &set, sizeof bits);
  return bits;
}

[[nodiscard]] inline sigset_t set_of(std::uint64_t bits) noexcept {
  sigset_t set{};
  std::memcpy(&set, &bits, sizeof bits);
  return set;
}

/// Signals whose handlers, masks and receivers are ours to choose. Not those that an instruction of
/// the receiver causes, those that nobody can handle, and the C library's own two.
[[nodiscard]] constexpr bool is_ours(int number) noexcept {
  switch (number) {
    case SIGKILL:
    case SIGSTOP:
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
    case 32:
    case 33:
      return false;
    default:
      return number > 0 && number < _NSIG;
  }
}

/// All of them.
inline constexpr std::uint64_t ours_to_deliver = [] {
  std::uint64_t all = 0;
  for (int number = 1; number < _NSIG; ++number) {
    all |= is_ours(number) ? bit_of(number) : 0;
  }
  return all;
}();

}  // namespace sinew::threads
