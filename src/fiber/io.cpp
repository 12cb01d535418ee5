// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fiber/io.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <vector>

#include "fiber/control.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/fiber/descriptor.hpp"

// System calls by syscall() alone: libsinew_threads.so replaces the C library's names.
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

namespace sinew::fiber {
namespace {

/// How a descriptor is asked without waiting; kept in its note by callers that remember.
enum class kind : std::uint8_t {
  unknown,
  socket,  ///< has a flag for it
  pipe,    ///< and so has the vector call, for these
  plain,   ///< regular files never wait
  other    ///< terminals and devices: polled first, where the vector call refuses them
};

io_result answer(long result) noexcept {
  return result < 0 ? io_result{-1, errno} : io_result{result, 0};
}

kind look_up_kind(int descriptor) noexcept {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0) {
    return kind::unknown;
  }
  if (S_ISSOCK(about.st_mode)) {
    return kind::socket;
  }
  if (S_ISFIFO(about.st_mode)) {
    return kind::pipe;
  }
  return S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode) ? kind::plain
                                                                                    : kind::other;
}

kind kind_of(int descriptor, bool remembers) noexcept {
  std::atomic<std::uint32_t>* const note = remembers ? note_of_descriptor(descriptor) : nullptr;
  if (note == nullptr) {
    return look_up_kind(descriptor);
  }
  auto known = static_cast<kind>(note->load(std::memory_order_relaxed) & own_part_of_note);
  if (known == kind::unknown) {
    known = look_up_kind(descriptor);
    note->fetch_or(static_cast<std::uint32_t>(known), std::memory_order_relaxed);
  }
  return known;
}

bool is_ready(int descriptor, short events) noexcept {
  pollfd one{descriptor, events, 0};
  const timespec at_once{};
  return ::syscall(SYS_ppoll, &one, 1, &at_once, nullptr, sizeof(std::uint64_t)) != 0;
}

/// The vector call with RWF_NOWAIT, at the descriptor's own position.
io_result at_once(long number, int descriptor, void* at, std::size_t bytes) noexcept {
  const iovec part{at, bytes};
  return answer(::syscall(number, descriptor, &part, 1, -1L, -1L, RWF_NOWAIT));
}

bool refused(const io_result& r) noexcept { return r.error == EOPNOTSUPP || r.error == ENOSYS; }

constexpr io_result would_wait{-1, EAGAIN};

/// Waits for one descriptor. Nothing if there is cause to look again, else what the call answers.
io_result wait_for(watched& w, const char* why, std::uint64_t deadline_ns) noexcept {
  const fiber* const me = self();
  SINEW_EXPECT(me != nullptr);
  switch (wait_for_descriptors(&w, 1, {why, deadline_ns, &me->apart, false})) {
    case descriptor_wait_end::timed_out:
      return {-1, ETIMEDOUT};
    case descriptor_wait_end::called_off:
      return {-1, ECANCELED};
    default:
      return {};
  }
}

/// On a thread: until it is ready.
io_result block(int descriptor, short events, std::uint64_t deadline_ns) noexcept {
  pollfd one{descriptor, events, 0};
  timespec left{};
  if (deadline_ns != no_deadline) {
    const auto now = static_cast<std::uint64_t>(now_ns());
    const std::uint64_t ns = deadline_ns > now ? deadline_ns - now : 0;
    left = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  }
  // Wait: a thread's, for a descriptor.
  const long got = ::syscall(SYS_ppoll, &one, 1, deadline_ns == no_deadline ? nullptr : &left,
                             nullptr, sizeof(std::uint64_t));
  return got == 0 ? io_result{-1, ETIMEDOUT} : io_result{};
}

/// Repeats an attempt until it answers anything but EAGAIN.
template <class Attempt>
io_result repeat(int descriptor, readiness want, const char* why, std::uint64_t deadline_ns,
                 Attempt attempt) noexcept {
  const bool in_fiber = self() != nullptr;
  const short events = want == readiness::in ? POLLIN : POLLOUT;
  for (;;) {
    watched w{descriptor, want, events_of(descriptor)};
    const io_result got = attempt();
    if (got.error != EAGAIN && got.error != EINTR) {
      return got;
    }
    if (got.error == EAGAIN) {
      const io_result why_not =
          in_fiber ? wait_for(w, why, deadline_ns) : block(descriptor, events, deadline_ns);
      if (!why_not.ok()) {
        return why_not;
      }
    }
  }
}

/// Its flag O_NONBLOCK as it is to be; what it was.
bool set_blocking(int descriptor, bool blocks) noexcept {
  const long flags = ::syscall(SYS_fcntl, descriptor, F_GETFL);
  const bool did = flags >= 0 && (flags & O_NONBLOCK) == 0;
  if (flags >= 0 && did != blocks) {
    (void)::syscall(SYS_fcntl, descriptor, F_SETFL,
                    blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
  }
  return did;
}

/// A local socket whose listener has a full queue says EAGAIN, and nobody tells of its end.
io_result connect_when_possible(int descriptor, const sockaddr* to, unsigned length,
                                std::uint64_t deadline_ns) noexcept {
  constexpr std::uint64_t longest_nap_ns = 1'000'000;
  std::uint64_t nap_ns = 20'000;
  for (;;) {
    const io_result got = answer(::syscall(SYS_connect, descriptor, to, length));
    if (got.error != EAGAIN) {
      return got;
    }
    const auto now = static_cast<std::uint64_t>(now_ns());
    if (now >= deadline_ns) {
      return {-1, ETIMEDOUT};
    }
    if (const fiber* const me = self(); me != nullptr && me->apart.load() != 0) {
      return {-1, ECANCELED};
    }
    // Wait: a fiber's, for what the kernel does not tell of; bounded, in naps.
    sleep_for(std::min(nap_ns, deadline_ns - now));
    nap_ns = std::min(2 * nap_ns, longest_nap_ns);
  }
}

readiness readiness_of(short events) noexcept {
  const bool in = (events & (POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND)) != 0;
  const bool out = (events & (POLLOUT | POLLWRNORM | POLLWRBAND)) != 0;
  return in && out ? readiness::any : out ? readiness::out : readiness::in;
}

io_result poll_with(pollfd* files, watched* list, std::size_t count,
                    std::uint64_t deadline_ns) noexcept {
  const fiber* const me = self();
  for (;;) {
    for (std::size_t i = 0; i < count; ++i) {
      list[i] = {files[i].fd, readiness_of(files[i].events), events_of(files[i].fd)};
    }
    const timespec at_once{};
    const io_result got =
        answer(::syscall(SYS_ppoll, files, count, &at_once, nullptr, sizeof(std::uint64_t)));
    if (got.value != 0) {
      return got;
    }
    switch (wait_for_descriptors(list, count, {"poll", deadline_ns, &me->apart, false})) {
      case descriptor_wait_end::timed_out:
        return {0, 0};
      case descriptor_wait_end::called_off:
        return {-1, ECANCELED};
      case descriptor_wait_end::impossible:
        // Wait: a fiber's, for what the kernel does not tell of; bounded, in naps.
        sleep_for(1'000'000);  // nobody tells us: some file is polled that the set refuses
        break;
      case descriptor_wait_end::happened:
        break;
    }
    if (static_cast<std::uint64_t>(now_ns()) >= deadline_ns) {
      return {0, 0};
    }
  }
}

}  // namespace

io_result read_now(int descriptor, void* to, std::size_t bytes, bool remembers) noexcept {
  const kind what = kind_of(descriptor, remembers);
  if (what == kind::socket && bytes != 0) {
    const io_result got =
        answer(::syscall(SYS_recvfrom, descriptor, to, bytes, MSG_DONTWAIT, nullptr, nullptr));
    if (got.error != ENOTSOCK) {
      return got;
    }
    forget_descriptor(descriptor);
    return read_now(descriptor, to, bytes, false);
  }
  if (what == kind::pipe || what == kind::other) {
    const io_result got = at_once(SYS_preadv2, descriptor, to, bytes);
    if (!refused(got)) {
      return got;
    }
    if (!is_ready(descriptor, POLLIN)) {
      return would_wait;
    }
  }
  return answer(::syscall(SYS_read, descriptor, to, bytes));
}

io_result write_now(int descriptor, const void* from, std::size_t bytes, bool remembers) noexcept {
  const kind what = kind_of(descriptor, remembers);
  if (what == kind::socket) {
    const io_result got =
        answer(::syscall(SYS_sendto, descriptor, from, bytes, MSG_DONTWAIT, nullptr, 0));
    if (got.error != ENOTSOCK) {
      return got;
    }
    forget_descriptor(descriptor);
    return write_now(descriptor, from, bytes, false);
  }
  if (what == kind::pipe) {
    const io_result got = at_once(SYS_pwritev2, descriptor, const_cast<void*>(from), bytes);
    if (!refused(got)) {
      return got;
    }
  }
  if (what == kind::pipe || what == kind::other) {
    if (!is_ready(descriptor, POLLOUT)) {
      return would_wait;
    }
    // A pipe that is ready takes so much without waiting, and no more for certain.
    bytes = what == kind::pipe ? std::min<std::size_t>(bytes, PIPE_BUF) : bytes;
  }
  return answer(::syscall(SYS_write, descriptor, from, bytes));
}

io_result read(int descriptor, void* to, std::size_t bytes, std::uint64_t deadline_ns) noexcept {
  return repeat(descriptor, readiness::in, "read", deadline_ns,
                [=] { return read_now(descriptor, to, bytes, false); });
}

io_result write(int descriptor, const void* from, std::size_t bytes,
                std::uint64_t deadline_ns) noexcept {
  std::size_t done = 0;
  do {
    const io_result now = repeat(descriptor, readiness::out, "write", deadline_ns, [=] {
      return write_now(descriptor, static_cast<const std::byte*>(from) + done, bytes - done, false);
    });
    if (now.value <= 0) {
      return done == 0 ? now : io_result{static_cast<std::int64_t>(done), 0};
    }
    done += static_cast<std::size_t>(now.value);
    SINEW_ASSERT(done <= bytes);
  } while (done < bytes);
  return {static_cast<std::int64_t>(done), 0};
}

io_result accept(int descriptor, sockaddr* from, void* length, std::uint64_t deadline_ns) noexcept {
  (void)set_blocking(descriptor, false);
  return repeat(descriptor, readiness::in, "accept", deadline_ns, [=] {
    return answer(::syscall(SYS_accept4, descriptor, from, length, SOCK_CLOEXEC));
  });
}

io_result connect(int descriptor, const sockaddr* to, unsigned length,
                  std::uint64_t deadline_ns) noexcept {
  const bool blocked = set_blocking(descriptor, false);
  io_result got = connect_when_possible(descriptor, to, length, deadline_ns);
  if (got.error == EINPROGRESS || got.error == EINTR) {
    got = repeat(descriptor, readiness::out, "connect", deadline_ns, [=]() -> io_result {
      if (!is_ready(descriptor, POLLOUT)) {
        return would_wait;
      }
      int error = 0;
      socklen_t bytes = sizeof error;
      (void)::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &bytes);
      return error == 0 ? io_result{0, 0} : io_result{-1, error};
    });
  }
  if (blocked) {
    (void)set_blocking(descriptor, true);
  }
  return got;
}

io_result poll(pollfd* files, std::size_t count, std::uint64_t deadline_ns) noexcept {
  if (self() == nullptr) {
    timespec left{};
    const auto now = static_cast<std::uint64_t>(now_ns());
    const std::uint64_t ns = deadline_ns > now ? deadline_ns - now : 0;
    left = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    // Wait: a thread's, for descriptors.
    return answer(::syscall(SYS_ppoll, files, count, deadline_ns == no_deadline ? nullptr : &left,
                            nullptr, sizeof(std::uint64_t)));
  }
  std::array<watched, 16> few;
  if (count <= few.size()) {
    return poll_with(files, few.data(), count, deadline_ns);
  }
  try {
    std::vector<watched> many(count);
    return poll_with(files, many.data(), count, deadline_ns);
  } catch (const std::bad_alloc&) {
    return {-1, ENOMEM};
  }
}

}  // namespace sinew::fiber
