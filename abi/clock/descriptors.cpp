// SPDX-License-Identifier: BSD-3-Clause
// Waits for descriptors with a time-out. One for no descriptor is a sleep. Others last really,
// since what they wait for is real; if nothing has come, the virtual time-out has passed as well.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "abi/clock/clock.hpp"

namespace sinew::clock {
namespace {

constinit real_function real_poll{"poll"};
constinit real_function real_ppoll{"ppoll"};
constinit real_function real_select{"select"};
constinit real_function real_pselect{"pselect"};
constinit real_function real_epoll_wait{"epoll_wait"};
constinit real_function real_epoll_pwait{"epoll_pwait"};

constexpr std::int64_t no_limit = -1;

std::int64_t length_of(int milliseconds) noexcept {
  return milliseconds < 0 ? no_limit : std::int64_t{milliseconds} * 1'000'000;
}
std::int64_t length_of(const timespec* limit) noexcept {
  return limit == nullptr || !is_valid(*limit) ? no_limit : ns_of(*limit);
}

/// `call` is the real one, which looks at the descriptors and returns their count.
template <class Call>
int wait(std::int64_t length, bool only_sleeps, const Call& call) {
  if (length <= 0) {
    return call();
  }
  if (only_sleeps && let_pass(length)) {
    return 0;
  }
  const std::int64_t since = now_ns();
  const int count = call();
  if (count == 0) {
    has_waited(since, length);
  }
  return count;
}

bool nobody(int count, const fd_set* read, const fd_set* write, const fd_set* except) noexcept {
  return count == 0 || (read == nullptr && write == nullptr && except == nullptr);
}

}  // namespace
}  // namespace sinew::clock

extern "C" {

int poll(pollfd* files, nfds_t count, int milliseconds) {
  using namespace sinew::clock;
  return wait(length_of(milliseconds), count == 0,
              [=] { return real_poll(files, count, milliseconds); });
}

int ppoll(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* mask) {
  using namespace sinew::clock;
  return wait(length_of(limit), count == 0 && mask == nullptr,
              [=] { return real_ppoll(files, count, limit, mask); });
}

int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* limit) {
  using namespace sinew::clock;
  std::int64_t length = no_limit;
  if (limit != nullptr && limit->tv_sec >= 0 && limit->tv_usec >= 0) {
    length = ns_of({limit->tv_sec + limit->tv_usec / 1'000'000, limit->tv_usec % 1'000'000 * 1000});
  }
  const int found = wait(length, nobody(count, read, write, except),
                         [=] { return real_select(count, read, write, except, limit); });
  if (found == 0 && limit != nullptr) {
    *limit = {};
  }
  return found;
}

int pselect(int count, fd_set* read, fd_set* write, fd_set* except, const timespec* limit,
            const sigset_t* mask) {
  using namespace sinew::clock;
  return wait(length_of(limit), mask == nullptr && nobody(count, read, write, except),
              [=] { return real_pselect(count, read, write, except, limit, mask); });
}

int epoll_wait(int file, epoll_event* events, int most, int milliseconds) {
  using namespace sinew::clock;
  return wait(length_of(milliseconds), false,
              [=] { return real_epoll_wait(file, events, most, milliseconds); });
}

int epoll_pwait(int file, epoll_event* events, int most, int milliseconds, const sigset_t* mask) {
  using namespace sinew::clock;
  return wait(length_of(milliseconds), false,
              [=] { return real_epoll_pwait(file, events, most, milliseconds, mask); });
}

}  // extern "C"
