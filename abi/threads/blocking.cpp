// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for less common things than input.cpp's: locks of files, System V's and POSIX'
// queues and semaphores, children by waitid().
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdarg>

#include "abi/threads/files.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/waiting.hpp"

namespace sinew::threads {
namespace {

/// Repeats a call that was told not to wait while it fails with `busy`.
template <class Call>
auto until_not(int busy, moment until, handled tolerated, Call call) {
  using answer = decltype(call());
  return repeat(
      until, answer{-2},
      [&] {
        const answer got = call();
        return got == answer{-1} && errno == busy ? answer{-2} : got;
      },
      tolerated, answer{-1});
}

/// The same where a limit that has passed is an error.
template <class Call>
auto until_not_limited(int busy, moment until, int late, Call call) {
  const auto got = until_not(busy, until, handled::nothing, call);
  if (got == -2) {
    errno = late;
  }
  return got == -2 ? decltype(got){-1} : got;
}

bool mq_waits(mqd_t queue) noexcept {
  const long flags = raw_call(SYS_fcntl, queue, F_GETFL);
  return !may_block() && flags >= 0 && (flags & O_NONBLOCK) == 0;
}

moment end_at(const timespec* until) noexcept {
  return until == nullptr ? never : moment_of(*until, CLOCK_REALTIME);
}

constexpr timespec long_ago{};

/// `until` may be null: for ever.
ssize_t receive_from_queue(mqd_t queue, char* to, size_t bytes, unsigned* priority,
                           const timespec* until) {
  static auto* const call = real_call<decltype(::mq_timedreceive)>("mq_timedreceive");
  return !mq_waits(queue) ? call(queue, to, bytes, priority, until)
                          : until_not_limited(ETIMEDOUT, end_at(until), ETIMEDOUT, [&] {
                              return call(queue, to, bytes, priority, &long_ago);
                            });
}

int send_to_queue(mqd_t queue, const char* from, size_t bytes, unsigned priority,
                  const timespec* until) {
  static auto* const call = real_call<decltype(::mq_timedsend)>("mq_timedsend");
  return !mq_waits(queue) ? call(queue, from, bytes, priority, until)
                          : until_not_limited(ETIMEDOUT, end_at(until), ETIMEDOUT, [&] {
                              return call(queue, from, bytes, priority, &long_ago);
                            });
}

}  // namespace
}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags, timespec* limit) {
  static auto* const call = real_call<decltype(::recvmmsg)>("recvmmsg");
  if (may_block() || (flags & MSG_DONTWAIT) != 0 || count == 0) {
    return call(descriptor, messages, count, flags, limit);
  }
  int done = 0;
  const int enough = (flags & MSG_WAITFORONE) != 0 ? 1 : static_cast<int>(count);
  while (done < enough) {
    const int now = when_ready(descriptor, sinew::fiber::readiness::in, "recvmmsg", [&] {
      return call(descriptor, messages + done, count - static_cast<unsigned>(done),
                  flags | MSG_DONTWAIT, nullptr);
    });
    if (now <= 0) {
      return done == 0 ? now : done;
    }
    done += now;
  }
  return done;
}

int eventfd_read(int descriptor, eventfd_t* value) {
  return ::read(descriptor, value, sizeof *value) == sizeof *value ? 0 : -1;
}

int eventfd_write(int descriptor, eventfd_t value) {
  return ::write(descriptor, &value, sizeof value) == sizeof value ? 0 : -1;
}

int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  static auto* const call = real_call<decltype(::waitid)>("waitid");
  if (may_block() || (options & WNOHANG) != 0) {
    return call(type, id, info, options);
  }
  siginfo_t seen{};
  const int code = repeat(
      never, 1,
      [&] {
        seen = {};
        const int got = call(type, id, &seen, options | WNOHANG);
        return got == 0 && seen.si_pid == 0 ? 1 : got;
      },
      handled::restart, -1);
  if (code == 0 && info != nullptr) {
    *info = seen;
  }
  return code;
}

pid_t wait3(int* status, int options, rusage* usage) { return ::wait4(-1, status, options, usage); }

int flock(int descriptor, int operation) noexcept {
  static auto* const call = real_call<decltype(::flock)>("flock");
  if (may_block() || (operation & (LOCK_NB | LOCK_UN)) != 0) {
    return call(descriptor, operation);
  }
  return until_not(EWOULDBLOCK, never, handled::restart,
                   [=] { return call(descriptor, operation | LOCK_NB); });
}

int fcntl(int descriptor, int command, ...) {
  static auto* const call = real_call<decltype(::fcntl)>("fcntl64");
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if ((command != F_SETLKW && command != F_OFD_SETLKW) || may_block()) {
    const int got = call(descriptor, command, argument);
    if (command == F_SETFL && (reinterpret_cast<std::uintptr_t>(argument) & O_NONBLOCK) != 0) {
      doubt_blocking();
    }
    return got;
  }
  const int at_once = command == F_SETLKW ? F_SETLK : F_OFD_SETLK;
  return repeat(
      never, -2,
      [=] {
        const int got = call(descriptor, at_once, argument);
        return got < 0 && (errno == EAGAIN || errno == EACCES) ? -2 : got;
      },
      handled::restart, -1);
}

int fcntl64(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return ::fcntl(descriptor, command, argument);
}

ssize_t msgrcv(int queue, void* to, size_t bytes, long type, int flags) {
  static auto* const call = real_call<decltype(::msgrcv)>("msgrcv");
  if (may_block() || (flags & IPC_NOWAIT) != 0) {
    return call(queue, to, bytes, type, flags);
  }
  return until_not(ENOMSG, never, handled::nothing,
                   [=] { return call(queue, to, bytes, type, flags | IPC_NOWAIT); });
}

int msgsnd(int queue, const void* from, size_t bytes, int flags) {
  static auto* const call = real_call<decltype(::msgsnd)>("msgsnd");
  if (may_block() || (flags & IPC_NOWAIT) != 0) {
    return call(queue, from, bytes, flags);
  }
  return until_not(EAGAIN, never, handled::nothing,
                   [=] { return call(queue, from, bytes, flags | IPC_NOWAIT); });
}

/// Each operation without waiting; those of the call that are to fail at once fail.
int semtimedop(int set, sembuf* operations, size_t count, const timespec* limit) noexcept {
  static auto* const call = real_call<decltype(::semtimedop)>("semtimedop");
  constexpr size_t most = 64;
  bool may_wait = !may_block() && count <= most;
  sembuf at_once[most];
  for (size_t i = 0; i < count && may_wait; ++i) {
    may_wait = (operations[i].sem_flg & IPC_NOWAIT) == 0;
    at_once[i] = operations[i];
    at_once[i].sem_flg |= IPC_NOWAIT;
  }
  if (!may_wait) {
    return call(set, operations, count, limit);
  }
  return until_not_limited(EAGAIN, end_of(limit), EAGAIN,
                           [&] { return call(set, at_once, count, nullptr); });
}

int semop(int set, sembuf* operations, size_t count) noexcept {
  return ::semtimedop(set, operations, count, nullptr);
}

ssize_t mq_timedreceive(mqd_t queue, char* to, size_t bytes, unsigned* priority,
                        const timespec* until) {
  return receive_from_queue(queue, to, bytes, priority, until);
}

ssize_t mq_receive(mqd_t queue, char* to, size_t bytes, unsigned* priority) {
  return receive_from_queue(queue, to, bytes, priority, nullptr);
}

int mq_timedsend(mqd_t queue, const char* from, size_t bytes, unsigned priority,
                 const timespec* until) {
  return send_to_queue(queue, from, bytes, priority, until);
}

int mq_send(mqd_t queue, const char* from, size_t bytes, unsigned priority) {
  return send_to_queue(queue, from, bytes, priority, nullptr);
}

}  // extern "C"
