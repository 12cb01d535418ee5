// SPDX-License-Identifier: BSD-3-Clause
// Reading, writing, accepting, connecting and polling that suspend the fiber and not its worker.
// Descriptors may be blocking or not. On a thread that runs no fiber these calls block it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/fiber/sleeper.hpp"
#include "sinew/fiber/waited.hpp"

struct pollfd;
struct sockaddr;

namespace sinew::fiber {

/// What became of a call: its result, or an error's number of <cerrno>. ETIMEDOUT after the
/// deadline, ECANCELED in a fiber that has been cancelled; then nothing has been done.
struct io_result {
  std::int64_t value = -1;
  int error = 0;
  [[nodiscard]] bool ok() const noexcept { return error == 0; }
};

/// As read(2): what is there, 0 at the end. Suspends while there is nothing. Warm.
[[nodiscard]] io_result read(int descriptor, void* to, std::size_t bytes,
                             std::uint64_t deadline_ns = no_deadline) noexcept;
/// As write(2) on a blocking descriptor: all of it, less only if an error or the deadline comes
/// after a part. Suspends while there is no room. Warm.
[[nodiscard]] io_result write(int descriptor, const void* from, std::size_t bytes,
                              std::uint64_t deadline_ns = no_deadline) noexcept;
/// As accept4(2) with SOCK_CLOEXEC. `descriptor` is made non-blocking, for good: else two fibers
/// that accept could stop a worker. `length` is a socklen_t. Warm.
[[nodiscard]] io_result accept(int descriptor, sockaddr* from, void* length,
                               std::uint64_t deadline_ns = no_deadline) noexcept;
/// As connect(2) on a blocking descriptor, which is non-blocking meanwhile. Warm.
[[nodiscard]] io_result connect(int descriptor, const sockaddr* to, unsigned length,
                                std::uint64_t deadline_ns = no_deadline) noexcept;
/// As poll(2); 0 after the deadline. Warm; allocates for more than 16 descriptors: ENOMEM.
[[nodiscard]] io_result poll(pollfd* files, std::size_t count,
                             std::uint64_t deadline_ns = no_deadline) noexcept;

/// One attempt that does not wait, for those who wait in their own way: EAGAIN where read() and
/// write() would wait. Streams take a part. `remembers`: the caller says forget_descriptor() before
/// a number names another file, so what kind it is need not be asked again. Any context. Warm.
[[nodiscard]] io_result read_now(int descriptor, void* to, std::size_t bytes,
                                 bool remembers) noexcept;
[[nodiscard]] io_result write_now(int descriptor, const void* from, std::size_t bytes,
                                  bool remembers) noexcept;

}  // namespace sinew::fiber
