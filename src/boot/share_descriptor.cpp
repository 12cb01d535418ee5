// SPDX-License-Identifier: BSD-3-Clause
// A descriptor handed to the other ranks of a node through an abstract socket: it has no file, so
// nothing is left behind whoever dies, and it needs no key-value space.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::boot {
namespace {

struct address {
  sockaddr_un name{};
  socklen_t length = 0;

  explicit address(const std::string& text) {
    SINEW_CHECK(text.size() < sizeof name.sun_path, "the job's name is too long",
                text + " does not fit a socket's address", "");
    name.sun_family = AF_UNIX;
    // A leading zero byte makes the name abstract.
    std::memcpy(name.sun_path + 1, text.data(), text.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

[[noreturn]] void fail(const std::string& why) {
  throw error("the ranks of this node cannot share memory", why,
              "check that they run as one user in one network namespace");
}

descriptor open_socket() {
  const int number = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (number < 0) {
    fail(std::string("socket: ") + std::strerror(errno));
  }
  return descriptor(number);
}

bool same_user(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         peer.uid == ::geteuid();
}

union control_block {
  cmsghdr align;
  std::byte bytes[CMSG_SPACE(sizeof(int))];
};

bool send_descriptor(int socket, int number) {
  char byte = 'd';
  iovec vector{&byte, 1};
  control_block control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &number, sizeof number);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

descriptor receive_descriptor(int socket) {
  char byte = 0;
  iovec vector{&byte, 1};
  control_block control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    // Wait: for a rank that is about to send; its end closes the socket.
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* header = got == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int))) {
    return {};
  }
  int number = -1;
  std::memcpy(&number, CMSG_DATA(header), sizeof number);
  return descriptor(number);
}

void serve(const std::string& name, int others, int number) {
  const address where(name);
  const descriptor listener = open_socket();
  if (::bind(listener.get(), where.get(), where.length) != 0 ||
      ::listen(listener.get(), std::max(others, 1)) != 0) {
    fail("the name " + name + " cannot be taken: " + std::strerror(errno));
  }
  for (int served = 0; served < others;) {
    // Wait: for ranks that the launcher has started; it ends the job if one ends.
    const descriptor peer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer && errno != EINTR && errno != ECONNABORTED) {
      fail(std::string("accept: ") + std::strerror(errno));
    }
    // Strangers are not served and not counted.
    if (peer && same_user(peer.get()) && send_descriptor(peer.get(), number)) {
      ++served;
    }
  }
}

descriptor fetch(const std::string& name) {
  const address where(name);
  std::int64_t pause_ns = 200'000;
  while (true) {
    const descriptor peer = open_socket();
    if (::connect(peer.get(), where.get(), where.length) == 0) {
      if (!same_user(peer.get())) {
        fail("the name " + name + " is held by another user");
      }
      descriptor number = receive_descriptor(peer.get());
      if (!number) {
        fail("local rank 0 went away or this process may open no more files");
      }
      return number;
    }
    if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR) {
      fail(std::string("connect: ") + std::strerror(errno));
    }
    // Local rank 0 has not come this far yet.
    // Wait: for local rank 0, as above.
    sleep_ns(pause_ns);
    pause_ns = std::min<std::int64_t>(pause_ns * 2, 20'000'000);
  }
}

}  // namespace

descriptor share_descriptor(const std::string& name, local_rank here, int local_size,
                            descriptor mine) {
  const std::string full = "sinew-" + std::to_string(::geteuid()) + "-" + name;
  if (here != 0) {
    return fetch(full);
  }
  serve(full, local_size - 1, mine.get());
  return mine;
}

}  // namespace sinew::boot
