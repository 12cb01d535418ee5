// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for files and children. In a fiber they would stop the worker and every
// fiber on it, perhaps the very one that would end the wait; so they try without waiting, and the
// fiber sleeps until there is cause to try again (files.hpp). What the C library does inside itself
// (fgets, getline) cannot be helped.
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "abi/threads/files.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/waiting.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/io.hpp"

namespace sinew::threads {

namespace {

using fiber::readiness;

/// Repeats `step`, which is given how many bytes are done and does some more, until all are, the
/// stream ends, or an error comes; that is the answer only if nothing was done before.
template <class Step>
ssize_t in_parts(std::size_t bytes, Step step) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t now = step(done);
    if (now <= 0) {
      return done == 0 ? now : static_cast<ssize_t>(done);
    }
    done += static_cast<std::size_t>(now);
    SINEW_ASSERT(done <= bytes);
  }
  return static_cast<ssize_t>(done);
}

/// Streams take what fits; a datagram goes as a whole or not at all.
bool takes_parts(int descriptor) noexcept {
  int type = 0;
  socklen_t bytes = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM;
}

bool is_stream(int descriptor) noexcept {
  struct stat about;
  return ::fstat(descriptor, &about) == 0 &&
         (S_ISFIFO(about.st_mode) || (S_ISSOCK(about.st_mode) && takes_parts(descriptor)));
}

ssize_t send_when_ready(int descriptor, const void* from, std::size_t bytes, int flags,
                        const sockaddr* to, socklen_t length) {
  static auto* const call = real_call<decltype(::sendto)>("sendto");
  if ((flags & MSG_DONTWAIT) != 0 || may_block()) {
    return call(descriptor, from, bytes, flags, to, length);
  }
  const auto some = [&](std::size_t done) {
    return when_ready(descriptor, readiness::out, "send", [&] {
      return answer_of(raw_call(SYS_sendto, descriptor, word(static_cast<const char*>(from) + done),
                                static_cast<long>(bytes - done), flags | MSG_DONTWAIT, word(to),
                                static_cast<long>(length)));
    });
  };
  const ssize_t first = some(0);
  if (first <= 0 || static_cast<std::size_t>(first) == bytes) {
    return first;
  }
  const auto begun = static_cast<std::size_t>(first);  // of a stream, then
  const ssize_t rest =
      in_parts(bytes - begun, [&](std::size_t done) { return some(begun + done); });
  return rest < 0 ? first : first + rest;
}

/// Leaves of a list of parts what is not done.
void skip(std::vector<iovec>& parts, std::size_t done) noexcept {
  std::size_t first = 0;
  while (first < parts.size() && done >= parts[first].iov_len) {
    done -= parts[first++].iov_len;
  }
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first));
  SINEW_ASSERT(done == 0 || !parts.empty());
  if (!parts.empty()) {
    parts[0].iov_base = static_cast<char*>(parts[0].iov_base) + done;
    parts[0].iov_len -= done;
  }
}

std::size_t bytes_of(const iovec* parts, std::size_t count) noexcept {
  std::size_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    all += parts[i].iov_len;
  }
  return all;
}

ssize_t send_message(int descriptor, const msghdr* message, int flags) {
  static auto* const call = real_call<decltype(::sendmsg)>("sendmsg");
  if ((flags & MSG_DONTWAIT) != 0 || may_block()) {
    return call(descriptor, message, flags);
  }
  if (message->msg_controllen != 0) {
    share_descriptors();  // perhaps
  }
  const auto some = [&](const msghdr& what) {
    return when_ready(descriptor, readiness::out, "sendmsg", [&] {
      return answer_of(raw_call(SYS_sendmsg, descriptor, word(&what), flags | MSG_DONTWAIT));
    });
  };
  const std::size_t bytes = bytes_of(message->msg_iov, message->msg_iovlen);
  const ssize_t first = some(*message);
  if (first <= 0 || static_cast<std::size_t>(first) >= bytes || !takes_parts(descriptor)) {
    return first;
  }
  std::vector<iovec> parts;
  msghdr rest = *message;
  rest.msg_control = nullptr;  // what goes along went with the first part
  rest.msg_controllen = 0;
  const auto begun = static_cast<std::size_t>(first);
  const ssize_t others = in_parts(bytes - begun, [&](std::size_t done) -> ssize_t {
    parts.assign(message->msg_iov, message->msg_iov + message->msg_iovlen);
    skip(parts, begun + done);
    rest.msg_iov = parts.data();
    rest.msg_iovlen = parts.size();
    return some(rest);
  });
  return others < 0 ? first : first + others;
}

/// The answer of one attempt, as the C library's functions give it.
ssize_t answer_of_io(const fiber::io_result& got) noexcept {
  errno = got.ok() ? errno : got.error;
  return static_cast<ssize_t>(got.value);
}

ssize_t read_when_ready(int descriptor, void* to, std::size_t bytes) {
  static auto* const call = real_call<decltype(::read)>("read");
  if (may_block()) {
    return call(descriptor, to, bytes);
  }
  return when_ready(descriptor, readiness::in, "read",
                    [=] { return answer_of_io(fiber::read_now(descriptor, to, bytes, true)); });
}

ssize_t receive_when_ready(int descriptor, void* to, std::size_t bytes, int flags, sockaddr* from,
                           socklen_t* length) {
  static auto* const call = real_call<decltype(::recvfrom)>("recvfrom");
  constexpr int at_once = MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB;
  if ((flags & at_once) != 0 || may_block()) {
    return call(descriptor, to, bytes, flags, from, length);
  }
  const auto some = [&](std::size_t done, int how) {
    return when_ready(descriptor, readiness::in, "recv", [&] {
      return answer_of(raw_call(SYS_recvfrom, descriptor, word(static_cast<char*>(to) + done),
                                static_cast<long>(bytes - done), how | MSG_DONTWAIT, word(from),
                                word(length)));
    });
  };
  if ((flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL && bytes != 0 && takes_parts(descriptor)) {
    return in_parts(bytes, [&](std::size_t done) { return some(done, flags & ~MSG_WAITALL); });
  }
  return some(0, flags);
}

/// A connection under way goes on whatever handlers run, unless one was installed to interrupt.
template <class Look>
int when_connected(fiber::watched& file, Look look) {
  file_wait wait("connect", never, handled::restart);
  for (;;) {
    wait.before_look();
    file.seen = fiber::events_of(file.descriptor);
    if (const int got = look(); got != 0) {
      return got;
    }
    if (!wait.sleep(&file, 1)) {
      return -1;
    }
  }
}

}  // namespace
}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

ssize_t read(int descriptor, void* to, size_t bytes) {
  return read_when_ready(descriptor, to, bytes);
}

// Programs that are compiled with checks of buffers call these instead.
ssize_t __read_chk(int descriptor, void* to, size_t bytes, size_t room);
ssize_t __read_chk(int descriptor, void* to, size_t bytes, size_t room) {
  static auto* const call = real_call<decltype(::__read_chk)>("__read_chk");
  return bytes <= room ? read_when_ready(descriptor, to, bytes) : call(descriptor, to, bytes, room);
}

ssize_t write(int descriptor, const void* from, size_t bytes) {
  static auto* const call = real_call<decltype(::write)>("write");
  if (may_block() || bytes == 0) {
    return call(descriptor, from, bytes);
  }
  return in_parts(bytes, [=](std::size_t done) {
    return when_ready(descriptor, sinew::fiber::readiness::out, "write", [=] {
      return answer_of_io(sinew::fiber::write_now(descriptor, static_cast<const char*>(from) + done,
                                                  bytes - done, true));
    });
  });
}

ssize_t readv(int descriptor, const iovec* to, int count) {
  static auto* const call = real_call<decltype(::readv)>("readv");
  if (!may_block() && count > 0 && count <= IOV_MAX) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(to);
    message.msg_iovlen = static_cast<std::size_t>(count);
    if (const ssize_t got = recvmsg(descriptor, &message, 0); got >= 0 || errno != ENOTSOCK) {
      return got;
    }
  }
  return await(descriptor, POLLIN) ? call(descriptor, to, count) : -1;
}

ssize_t writev(int descriptor, const iovec* from, int count) {
  static auto* const call = real_call<decltype(::writev)>("writev");
  if (!may_block() && count > 0 && count <= IOV_MAX) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(from);
    message.msg_iovlen = static_cast<std::size_t>(count);
    if (const ssize_t got = send_message(descriptor, &message, 0); got >= 0 || errno != ENOTSOCK) {
      return got;
    }
  }
  if (may_block() || !waits(descriptor) || count <= 0 || count > IOV_MAX ||
      !is_stream(descriptor) || bytes_of(from, static_cast<std::size_t>(count)) <= PIPE_BUF) {
    return await(descriptor, POLLOUT) ? call(descriptor, from, count) : -1;
  }
  ssize_t done = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t now = write(descriptor, from[i].iov_base, from[i].iov_len);
    if (now < 0) {
      return done == 0 ? now : done;
    }
    done += now;
    if (static_cast<std::size_t>(now) != from[i].iov_len) {
      break;
    }
  }
  return done;
}

ssize_t recv(int descriptor, void* to, size_t bytes, int flags) {
  return receive_when_ready(descriptor, to, bytes, flags, nullptr, nullptr);
}

ssize_t __recv_chk(int descriptor, void* to, size_t bytes, size_t room, int flags);
ssize_t __recv_chk(int descriptor, void* to, size_t bytes, size_t room, int flags) {
  static auto* const call = real_call<decltype(::__recv_chk)>("__recv_chk");
  return bytes <= room ? receive_when_ready(descriptor, to, bytes, flags, nullptr, nullptr)
                       : call(descriptor, to, bytes, room, flags);
}

ssize_t recvfrom(int descriptor, void* to, size_t bytes, int flags, sockaddr* from,
                 socklen_t* length) {
  return receive_when_ready(descriptor, to, bytes, flags, from, length);
}

ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  static auto* const call = real_call<decltype(::recvmsg)>("recvmsg");
  constexpr int at_once = MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB;
  if ((flags & at_once) != 0 || may_block()) {
    return call(descriptor, message, flags);
  }
  if ((flags & MSG_WAITALL) != 0) {
    return await(descriptor, POLLIN) ? call(descriptor, message, flags) : -1;
  }
  return when_ready(descriptor, readiness::in, "recvmsg", [=] {
    return answer_of(raw_call(SYS_recvmsg, descriptor, word(message), flags | MSG_DONTWAIT));
  });
}

ssize_t send(int descriptor, const void* from, size_t bytes, int flags) {
  return send_when_ready(descriptor, from, bytes, flags, nullptr, 0);
}

ssize_t sendto(int descriptor, const void* from, size_t bytes, int flags, const sockaddr* to,
               socklen_t length) {
  return send_when_ready(descriptor, from, bytes, flags, to, length);
}

ssize_t sendmsg(int descriptor, const msghdr* message, int flags) {
  return send_message(descriptor, message, flags);
}

/// Stops at a message that was sent in part, as the kernel does.
int sendmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags) {
  static auto* const call = real_call<decltype(::sendmmsg)>("sendmmsg");
  if ((flags & MSG_DONTWAIT) != 0 || may_block()) {
    return call(descriptor, messages, count, flags);
  }
  const unsigned most = std::min(count, static_cast<unsigned>(IOV_MAX));
  int sent = 0;
  for (unsigned i = 0; i < most; ++i) {
    const msghdr& message = messages[i].msg_hdr;
    const ssize_t got = send_message(descriptor, &message, flags);
    if (got < 0) {
      return sent == 0 ? -1 : sent;
    }
    messages[i].msg_len = static_cast<unsigned>(got);
    ++sent;
    if (static_cast<std::size_t>(got) < bytes_of(message.msg_iov, message.msg_iovlen)) {
      break;
    }
  }
  return sent;
}

int accept(int descriptor, sockaddr* from, socklen_t* length) {
  static auto* const call = real_call<decltype(::accept)>("accept");
  return await(descriptor, POLLIN) ? call(descriptor, from, length) : -1;
}

int accept4(int descriptor, sockaddr* from, socklen_t* length, int flags) {
  static auto* const call = real_call<decltype(::accept4)>("accept4");
  return await(descriptor, POLLIN) ? call(descriptor, from, length, flags) : -1;
}

/// The listener may be a fiber of this worker, with its queue full.
int connect(int descriptor, const sockaddr* to, socklen_t length) {
  static auto* const call = real_call<decltype(::connect)>("connect");
  const int flags = may_block() ? O_NONBLOCK : ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) != 0) {
    return call(descriptor, to, length);
  }
  struct unblocked {  // also when cancellation unwinds
    int descriptor, flags;
    unblocked(int d, int f) : descriptor(d), flags(f) { ::fcntl(d, F_SETFL, f | O_NONBLOCK); }
    ~unblocked() { ::fcntl(descriptor, F_SETFL, flags); }
  };
  int error = 0;
  {
    const unblocked now(descriptor, flags);
    // A full queue is EAGAIN for local sockets, and a connection under way for others.
    error = repeat(
        never, EAGAIN, [&] { return call(descriptor, to, length) == 0 ? 0 : errno; },
        handled::restart, EINTR);
    if (error == EINPROGRESS) {
      pollfd one{descriptor, POLLOUT, 0};
      sinew::fiber::watched file{descriptor, sinew::fiber::readiness::out};
      const int answer = when_connected(file, [&] {
        return static_cast<int>(raw_call(SYS_poll, reinterpret_cast<long>(&one), 1, 0));
      });
      error = EINTR;
      if (answer > 0) {
        socklen_t bytes = sizeof error;
        ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &bytes);
      }
    }
  }
  errno = error == 0 ? errno : error;
  return error == 0 ? 0 : -1;
}

pid_t wait4(pid_t child, int* status, int options, rusage* usage) {
  static auto* const call = real_call<decltype(::wait4)>("wait4");
  if (may_block() || (options & WNOHANG) != 0) {
    return call(child, status, options, usage);
  }
  return repeat(
      never, pid_t{0}, [=] { return call(child, status, options | WNOHANG, usage); },
      handled::restart, pid_t{-1});
}

pid_t waitpid(pid_t child, int* status, int options) {
  return wait4(child, status, options, nullptr);
}

pid_t wait(int* status) { return wait4(-1, status, 0, nullptr); }

}  // extern "C"
