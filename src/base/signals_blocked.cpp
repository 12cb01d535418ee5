// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/signals_blocked.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace sinew::base {
namespace {

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }
/// The C library's own, which its sigfillset() leaves out, too: by the second all threads take on
/// the user that one sets, and setuid() waits until they have.
constexpr std::uint64_t library_s = bit_of(32) | bit_of(33);

}  // namespace

signals_blocked::signals_blocked() noexcept {
  const std::uint64_t all = ~library_s;
  (void)::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
}

signals_blocked::~signals_blocked() {
  (void)::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
}

}  // namespace sinew::base
