// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/files.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>

#include "abi/threads/raw.hpp"

namespace sinew::threads {
namespace {

/// Somebody has given a socket a limit of time; until then nobody needs to ask for one.
constinit std::atomic<bool> limits_are_set{false};

/// How often descriptors may have become O_NONBLOCK: what was known of one before does not count.
/// Kept in the upper part of its note. 0: others may do it unseen, or it was too often to count. An
/// acquire, so that the kernel is asked after it; raised (release) after the call that did it.
constinit std::atomic<std::uint32_t> doubts{1};
constexpr std::uint32_t note_shift = 8;
constexpr std::uint32_t most_doubts = (1U << 24U) - 1;
constexpr std::uint32_t shared = 0;

/// A number that goes out of use: forgotten before (a wait that begins meanwhile must not rely on
/// what the kernel is about to drop), and who waits looks again afterwards.
class closing {
 public:
  explicit closing(int descriptor) noexcept : descriptor_(descriptor) {
    fiber::forget_descriptor(descriptor);
  }
  ~closing() {
    const int error = errno;
    fiber::wake_waiters_of(descriptor_);
    errno = error;
  }
  closing(const closing&) = delete;
  closing& operator=(const closing&) = delete;

 private:
  int descriptor_;
};

/// The range without those that are ours.
int close_between(unsigned first, unsigned last, int flags) {
  static auto* const call = real_call<decltype(::close_range)>("close_range");
  unsigned from = first;
  const unsigned end = std::min(last, fiber::descriptor_bound());
  for (unsigned each = first; each <= end; ++each) {
    if (fiber::is_own_descriptor(static_cast<int>(each))) {
      if (each > from && call(from, each - 1, flags) != 0) {
        return -1;
      }
      from = each + 1;
    } else if ((flags & CLOSE_RANGE_CLOEXEC) == 0) {
      fiber::forget_descriptor(static_cast<int>(each));
    }
  }
  const int code = from > last ? 0 : call(from, last, flags);
  if ((flags & CLOSE_RANGE_CLOEXEC) == 0) {
    const int error = errno;
    for (unsigned each = first; each <= end; ++each) {
      fiber::wake_waiters_of(static_cast<int>(each));
    }
    errno = error;
  }
  return code;
}

}  // namespace

void file_wait::before_look() {
  // What pokes us is written before the poke: taken here, it is looked at below.
  if (mine.poked.load(std::memory_order_relaxed) != 0) {
    mine.poked.store(0, std::memory_order_seq_cst);
  }
  ::pthread_testcancel();
}

bool file_wait::signals_end_it() {
  // Also of those that ran since the call began, in the middle of the C library.
  if (std::max(static_cast<int>(take_signals()), mine.worst_handled) <=
      static_cast<int>(tolerated_)) {
    return false;
  }
  errno = EINTR;
  return true;
}

bool file_wait::sleep(fiber::watched* files, std::size_t count) {
  if (signals_end_it()) {
    return false;
  }
  const int error = errno;
  const fiber::descriptor_wait_options how{why_, until_, mine.ours ? &mine.poked : nullptr, true};
  if (fiber::wait_for_descriptors(files, count, how) == fiber::descriptor_wait_end::impossible) {
    pause_.wait();
  }
  errno = error;
  return !signals_end_it();
}

bool waits(int descriptor) noexcept {
  const std::uint32_t age = doubts.load(std::memory_order_acquire) << note_shift;
  std::atomic<std::uint32_t>* const note =
      age == shared ? nullptr : fiber::note_of_descriptor(descriptor);
  const std::uint32_t known = note == nullptr ? 0 : note->load(std::memory_order_relaxed);
  if (note != nullptr && (known & ~fiber::own_part_of_note) == age) {
    return true;
  }
  const long flags = raw_call(SYS_fcntl, descriptor, F_GETFL);
  const bool blocking = flags >= 0 && (flags & O_NONBLOCK) == 0;
  struct stat about{};
  if (blocking && note != nullptr && ::fstat(descriptor, &about) == 0 && S_ISSOCK(about.st_mode)) {
    note->store((known & fiber::own_part_of_note) | age, std::memory_order_relaxed);
  }
  return blocking;
}

void doubt_blocking() noexcept {
  std::uint32_t before = doubts.load(std::memory_order_relaxed);
  while (before != 0 &&
         !doubts.compare_exchange_weak(before, before == most_doubts ? 0 : before + 1,
                                       std::memory_order_release)) {
  }
}

void share_descriptors() noexcept { doubts.store(0, std::memory_order_release); }

moment limit_of(int descriptor, fiber::readiness want) noexcept {
  if (!limits_are_set.load(std::memory_order_relaxed)) {
    return never;
  }
  timeval limit{};
  socklen_t bytes = sizeof limit;
  const int name = want == fiber::readiness::in ? SO_RCVTIMEO : SO_SNDTIMEO;
  const bool has = ::getsockopt(descriptor, SOL_SOCKET, name, &limit, &bytes) == 0 &&
                   (limit.tv_sec != 0 || limit.tv_usec != 0);
  return has ? moment_in({limit.tv_sec, limit.tv_usec * 1000L}) : never;
}

bool await(int descriptor, short events) {
  if (may_block()) {
    return true;
  }
  const auto want = (events & POLLOUT) != 0 ? fiber::readiness::out : fiber::readiness::in;
  const int error = errno;
  const int got = when_ready(descriptor, want, "descriptor", [&] {
    pollfd one{descriptor, events, 0};
    if (raw_call(SYS_poll, reinterpret_cast<long>(&one), 1, 0) != 0) {
      return 0;
    }
    errno = EAGAIN;
    return -1;
  });
  if (got < 0 && errno == EINTR) {
    return false;
  }
  errno = error;  // where the descriptor does not wait, the call itself says so
  return true;
}

}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int close(int descriptor) {
  static auto* const call = real_call<decltype(::close)>("close");
  if (sinew::fiber::is_own_descriptor(descriptor)) {
    errno = EBADF;
    return -1;
  }
  const closing now(descriptor);
  return call(descriptor);
}

int fclose(FILE* file) {
  static auto* const call = real_call<decltype(::fclose)>("fclose");
  const closing now(file == nullptr ? -1 : ::fileno(file));
  return call(file);
}

int pclose(FILE* file) {
  static auto* const call = real_call<decltype(::pclose)>("pclose");
  const closing now(file == nullptr ? -1 : ::fileno(file));
  return call(file);
}

int dup2(int from, int to) noexcept {
  static auto* const call = real_call<decltype(::dup2)>("dup2");
  const closing now(from == to ? -1 : to);
  return call(from, to);
}

int dup3(int from, int to, int flags) noexcept {
  static auto* const call = real_call<decltype(::dup3)>("dup3");
  const closing now(from == to ? -1 : to);
  return call(from, to, flags);
}

int close_range(unsigned first, unsigned last, int flags) noexcept {
  return close_between(first, last, flags);
}

void closefrom(int first) noexcept {
  (void)close_between(static_cast<unsigned>(std::max(first, 0)), UINT32_MAX, 0);
}

int ioctl(int descriptor, unsigned long request, ...) noexcept {
  static auto* const call = real_call<decltype(::ioctl)>("ioctl");
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  const int got = call(descriptor, request, argument);
  if (request == FIONBIO) {
    doubt_blocking();
  }
  return got;
}

int setsockopt(int descriptor, int level, int name, const void* value, socklen_t bytes) noexcept {
  static auto* const call = real_call<decltype(::setsockopt)>("setsockopt");
  if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
    limits_are_set.store(true, std::memory_order_relaxed);
  }
  return call(descriptor, level, name, value, bytes);
}

}  // extern "C"
