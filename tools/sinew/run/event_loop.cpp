// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/event_loop.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "sinew/base/clock.hpp"

namespace sinew::tool {
namespace {

static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT);

epoll_event event_for(int descriptor, short events) {
  epoll_event event{};
  event.events = static_cast<std::uint32_t>(events);
  event.data.fd = descriptor;
  return event;
}

// An epoll of which every call has been tried, since each may be refused alone; or none.
boot::descriptor working_epoll() {
  boot::descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  std::array<int, 2> ends{};
  if (!epoll || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const boot::descriptor input(ends[0]);
  const boot::descriptor output(ends[1]);
  epoll_event event = event_for(input.get(), POLLIN);
  const bool works = ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, input.get(), &event) == 0 &&
                     ::epoll_wait(epoll.get(), &event, 1, 0) == 0 &&
                     ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, input.get(), nullptr) == 0;
  return works ? std::move(epoll) : boot::descriptor();
}

// As epoll, which refuses what is always ready.
bool can_be_waited_for(int descriptor) {
  struct stat what{};
  return ::fstat(descriptor, &what) == 0 && !S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode);
}

}  // namespace

bool wait_ready(int descriptor, short events, std::int64_t until_ns) {
  for (std::int64_t left_ns = until_ns - now_ns(); left_ns > 0; left_ns = until_ns - now_ns()) {
    pollfd asked{descriptor, events, 0};
    // Wait: as long as the caller says.
    if (const int ready = ::poll(&asked, 1, static_cast<int>(left_ns / 1'000'000 + 1));
        ready >= 0 || errno != EINTR) {
      return ready > 0;
    }
  }
  return false;
}

event_loop::event_loop() : epoll_(working_epoll()) {}

bool event_loop::watch(int descriptor, short events, handler ready) {
  epoll_event event = event_for(descriptor, events);
  if (epoll_ ? ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0
             : !can_be_waited_for(descriptor)) {
    return false;
  }
  handlers_[descriptor] = {std::make_shared<handler>(std::move(ready)), events};
  return true;
}

bool event_loop::watch_input(int descriptor, handler ready) {
  return watch(descriptor, POLLIN, std::move(ready));
}

bool event_loop::watch_output(int descriptor, handler ready) {
  return watch(descriptor, POLLOUT, std::move(ready));
}

void event_loop::forget(int descriptor) {
  if (handlers_.erase(descriptor) != 0 && epoll_) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
  }
}

void event_loop::run_once(int timeout_ms) {
  if (epoll_) {
    wait_by_epoll(timeout_ms);
  } else {
    wait_by_poll(timeout_ms);
  }
}

void event_loop::wait_by_epoll(int timeout_ms) {
  std::array<epoll_event, 64> events;
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    call(events[static_cast<std::size_t>(i)].data.fd);
  }
}

void event_loop::wait_by_poll(int timeout_ms) {
  std::vector<pollfd> waited;
  waited.reserve(handlers_.size());
  for (const auto& [descriptor, what] : handlers_) {
    waited.push_back({descriptor, what.events, 0});
  }
  if (::poll(waited.data(), waited.size(), timeout_ms) <= 0) {
    return;
  }
  for (const pollfd& each : waited) {
    if ((each.revents & POLLNVAL) != 0) {
      forget(each.fd);  // closed meanwhile; it would be ready for ever
    } else if (each.revents != 0) {
      call(each.fd);
    }
  }
}

void event_loop::call(int descriptor) {
  const auto found = handlers_.find(descriptor);
  if (found != handlers_.end()) {
    // Held here: the handler may forget itself.
    const std::shared_ptr<handler> ready = found->second.ready;
    (*ready)();
  }
}

}  // namespace sinew::tool
