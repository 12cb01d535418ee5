// SPDX-License-Identifier: BSD-3-Clause
// Mutexes between processes that know their owner: recursive, error-checking and robust ones. In
// glibc's layout and by its protocol, for the other process may have the system's threads.
#pragma once

#include <pthread.h>

#include "abi/threads/parking_lot.hpp"

namespace sinew::threads {

/// glibc's PTHREAD_MUTEX_PRIO_INHERIT_NP and _PRIO_PROTECT_NP: such a word names a thread that the
/// kernel knows, which no fiber is.
inline constexpr int priority_kinds = 0x60;

/// Is it between processes, and one that knows its owner?
[[nodiscard]] bool knows_owner(const pthread_mutex_t& m) noexcept;

/// Of any mutex between processes. Suspends a fiber, blocks a thread.
[[nodiscard]] int lock_between(pthread_mutex_t& m, moment until) noexcept;
[[nodiscard]] int try_lock_between(pthread_mutex_t& m) noexcept;
[[nodiscard]] int unlock_between(pthread_mutex_t& m) noexcept;
/// What pthread_mutex_consistent() answers.
[[nodiscard]] int repair_between(pthread_mutex_t& m) noexcept;

/// Of a thread that ends: robust ones that it holds have lost their owner.
void leave_mutexes_between() noexcept;

}  // namespace sinew::threads
