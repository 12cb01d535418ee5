// SPDX-License-Identifier: BSD-3-Clause
// The one epoll set of the process, for workers: where descriptors that fibers wait for are told
// of. The waiting itself is in sinew/fiber/descriptor.hpp.
#pragma once

#include <cstdint>

namespace sinew::fiber::reactor {

/// Some fiber has waited for a descriptor. Any worker.
[[nodiscard]] bool is_open() noexcept;
/// Makes the fibers ready whose descriptors are. Any worker, several at a time. Warm.
void poll() noexcept;
/// The same after sleeping until a descriptor is ready, wake() is called or the time is over. It
/// must have been open when the caller said that it would sleep here: before, wake() does nothing.
void sleep(std::uint64_t timeout_ns) noexcept;
/// Ends a sleep(), or the next one. Any context, also a handler of a signal.
void wake() noexcept;
/// In the child of a fork: the set is the parent's, and its waiters are not here.
void abandon() noexcept;

}  // namespace sinew::fiber::reactor
