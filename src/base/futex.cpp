// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace sinew::base {
namespace {

int flags(within who) noexcept { return who == within::process ? FUTEX_PRIVATE_FLAG : 0; }

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns,
                within who) noexcept {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000U);
  limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000U);
  ::syscall(SYS_futex, &word, FUTEX_WAIT | flags(who), expected,
            timeout_ns == no_limit ? nullptr : &limit, nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word, int count, within who) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE | flags(who), count, nullptr, nullptr, 0);
}

}  // namespace sinew::base
