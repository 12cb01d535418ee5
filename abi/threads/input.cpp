// Calls that wait for files and children. In a fiber they would stop the worker and every
// fiber on it, perhaps the very one that would end the wait; so they look first, and look again
// after others have run. What the C library does inside itself (fgets, getline) cannot be helped.
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "abi/threads/raw.hpp"
#include "abi/threads/waiting.hpp"

namespace sinew::threads {

bool await(int descriptor, short events) {
  if (may_block()) {
    return true;
  }
  pollfd one{descriptor, events, 0};
  for (backoff pause;; pause.wait()) {
    ::pthread_testcancel();
    if (raw_call(SYS_poll, reinterpret_cast<long>(&one), 1, 0) != 0) {
      return true;
    }
    const long flags = raw_call(SYS_fcntl, descriptor, F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK) != 0) {
      return true;
    }
    if (take_signals() == handled::cut_short) {
      errno = EINTR;
      return false;
    }
  }
}

namespace {

/// Does a call on it wait at all?
bool waits(int descriptor) noexcept {
  const long flags = raw_call(SYS_fcntl, descriptor, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

/// Repeats `step`, which is given how many bytes are done and does some more, until all are, the
/// stream ends, or an error comes; that is the answer only if nothing was done before.
template <class Step>
ssize_t in_parts(std::size_t bytes, Step step) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t now = step(done);
    if (now < 0 && errno == EAGAIN) {
      continue;  // somebody else was faster
    }
    if (now <= 0) {
      return done == 0 ? now : static_cast<ssize_t>(done);
    }
    done += static_cast<std::size_t>(now);
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
  if ((flags & MSG_DONTWAIT) != 0 || may_block() || !waits(descriptor)) {
    return call(descriptor, from, bytes, flags, to, length);
  }
  if (bytes == 0 || !takes_parts(descriptor)) {
    return await(descriptor, POLLOUT) ? call(descriptor, from, bytes, flags, to, length) : -1;
  }
  return in_parts(bytes, [&](std::size_t done) {
    return await(descriptor, POLLOUT) ? call(descriptor, static_cast<const char*>(from) + done,
                                             bytes - done, flags | MSG_DONTWAIT, to, length)
                                      : -1;
  });
}

/// Leaves of a list of parts what is not done.
void skip(std::vector<iovec>& parts, std::size_t done) noexcept {
  std::size_t first = 0;
  while (first < parts.size() && done >= parts[first].iov_len) {
    done -= parts[first++].iov_len;
  }
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first));
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
  if ((flags & MSG_DONTWAIT) != 0 || may_block() || !waits(descriptor)) {
    return call(descriptor, message, flags);
  }
  const std::size_t bytes = bytes_of(message->msg_iov, message->msg_iovlen);
  if (bytes == 0 || !takes_parts(descriptor)) {
    return await(descriptor, POLLOUT) ? call(descriptor, message, flags) : -1;
  }
  std::vector<iovec> parts;
  msghdr rest = *message;
  return in_parts(bytes, [&](std::size_t done) -> ssize_t {
    if (!await(descriptor, POLLOUT)) {
      return -1;
    }
    if (done != 0) {
      parts.assign(message->msg_iov, message->msg_iov + message->msg_iovlen);
      skip(parts, done);
      rest.msg_iov = parts.data();
      rest.msg_iovlen = parts.size();
      rest.msg_control = nullptr;  // what goes along went with the first part
      rest.msg_controllen = 0;
    }
    return call(descriptor, &rest, flags | MSG_DONTWAIT);
  });
}

ssize_t read_when_ready(int descriptor, void* to, std::size_t bytes) {
  static auto* const call = real_call<decltype(::read)>("read");
  return await(descriptor, POLLIN) ? call(descriptor, to, bytes) : -1;
}

ssize_t receive_when_ready(int descriptor, void* to, std::size_t bytes, int flags, sockaddr* from,
                           socklen_t* length) {
  static auto* const call = real_call<decltype(::recvfrom)>("recvfrom");
  if ((flags & (MSG_WAITALL | MSG_DONTWAIT | MSG_PEEK)) == MSG_WAITALL && !may_block() &&
      waits(descriptor)) {
    return in_parts(bytes, [&](std::size_t done) {
      return await(descriptor, POLLIN)
                 ? call(descriptor, static_cast<char*>(to) + done, bytes - done,
                        (flags & ~MSG_WAITALL) | MSG_DONTWAIT, from, length)
                 : -1;
    });
  }
  return (flags & MSG_DONTWAIT) != 0 || await(descriptor, POLLIN)
             ? call(descriptor, to, bytes, flags, from, length)
             : -1;
}

int poll_again(pollfd* files, nfds_t count, int timeout_ms) {
  static auto* const call = real_call<decltype(::poll)>("poll");
  if (may_block() || timeout_ms == 0) {
    return call(files, count, timeout_ms);
  }
  return repeat(
      end_in_ms(timeout_ms), 0, [=] { return call(files, count, 0); }, handled::nothing, -1);
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

/// A pipe that is ready takes PIPE_BUF bytes without waiting, and no more for certain.
ssize_t write(int descriptor, const void* from, size_t bytes) {
  static auto* const call = real_call<decltype(::write)>("write");
  if (!await(descriptor, POLLOUT)) {
    return -1;
  }
  if (bytes <= PIPE_BUF || may_block() || !is_stream(descriptor)) {
    return call(descriptor, from, bytes);
  }
  size_t done = 0;
  while (done < bytes) {
    if (!await(descriptor, POLLOUT)) {
      return done == 0 ? -1 : static_cast<ssize_t>(done);
    }
    const ssize_t now = call(descriptor, static_cast<const char*>(from) + done,
                             std::min<size_t>(bytes - done, PIPE_BUF));
    if (now < 0) {
      return done == 0 ? now : static_cast<ssize_t>(done);
    }
    done += static_cast<size_t>(now);
  }
  return static_cast<ssize_t>(done);
}

ssize_t readv(int descriptor, const iovec* to, int count) {
  static auto* const call = real_call<decltype(::readv)>("readv");
  return await(descriptor, POLLIN) ? call(descriptor, to, count) : -1;
}

ssize_t writev(int descriptor, const iovec* from, int count) {
  static auto* const call = real_call<decltype(::writev)>("writev");
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
  return (flags & MSG_DONTWAIT) != 0 || await(descriptor, POLLIN) ? call(descriptor, message, flags)
                                                                  : -1;
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
      const long answer = repeat(
          never, 0L, [&] { return raw_call(SYS_poll, reinterpret_cast<long>(&one), 1, 0); },
          handled::restart, long{-EINTR});
      error = EINTR;
      if (answer != -EINTR) {
        socklen_t bytes = sizeof error;
        ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &bytes);
      }
    }
  }
  errno = error == 0 ? errno : error;
  return error == 0 ? 0 : -1;
}

int poll(pollfd* files, nfds_t count, int timeout_ms) {
  return poll_again(files, count, timeout_ms);
}

int __poll_chk(pollfd* files, nfds_t count, int timeout_ms, size_t room);
int __poll_chk(pollfd* files, nfds_t count, int timeout_ms, size_t room) {
  static auto* const call = real_call<decltype(::__poll_chk)>("__poll_chk");
  return count <= room / sizeof(pollfd) ? poll_again(files, count, timeout_ms)
                                        : call(files, count, timeout_ms, room);
}

int select(int end, fd_set* in, fd_set* out, fd_set* odd, timeval* limit) {
  static auto* const call = real_call<decltype(::select)>("select");
  if (may_block() || (limit != nullptr && limit->tv_sec == 0 && limit->tv_usec == 0)) {
    return call(end, in, out, odd, limit);
  }
  const fd_set none{};
  const fd_set asked[3] = {in != nullptr ? *in : none, out != nullptr ? *out : none,
                           odd != nullptr ? *odd : none};
  const timespec length =
      limit == nullptr ? timespec{} : timespec{limit->tv_sec, limit->tv_usec * 1000};
  const auto look = [&] {
    fd_set* const sets[3] = {in, out, odd};
    for (int i = 0; i < 3; ++i) {
      if (sets[i] != nullptr) {
        *sets[i] = asked[i];
      }
    }
    timeval now{};
    return call(end, in, out, odd, &now);
  };
  return repeat(end_of(limit == nullptr ? nullptr : &length), 0, look, handled::nothing, -1);
}

int epoll_wait(int descriptor, epoll_event* events, int most, int timeout_ms) {
  static auto* const call = real_call<decltype(::epoll_wait)>("epoll_wait");
  if (may_block() || timeout_ms == 0) {
    return call(descriptor, events, most, timeout_ms);
  }
  return repeat(
      end_in_ms(timeout_ms), 0, [=] { return call(descriptor, events, most, 0); }, handled::nothing,
      -1);
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
