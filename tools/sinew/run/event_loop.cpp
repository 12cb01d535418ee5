#include "sinew/run/event_loop.hpp"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::tool {

event_loop::event_loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  SINEW_CHECK(static_cast<bool>(epoll_), "the launcher cannot wait for events",
              std::strerror(errno), "raise the limit on open files (ulimit -n)");
}

bool event_loop::watch(int descriptor, std::uint32_t events, handler ready) {
  epoll_event event{};
  event.events = events;
  event.data.fd = descriptor;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return false;
  }
  handlers_[descriptor] = std::make_shared<handler>(std::move(ready));
  return true;
}

bool event_loop::watch_input(int descriptor, handler ready) {
  return watch(descriptor, EPOLLIN, std::move(ready));
}

bool event_loop::watch_output(int descriptor, handler ready) {
  return watch(descriptor, EPOLLOUT, std::move(ready));
}

void event_loop::forget(int descriptor) {
  if (handlers_.erase(descriptor) != 0) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
  }
}

void event_loop::run_once(int timeout_ms) {
  std::array<epoll_event, 64> events;
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    const auto found = handlers_.find(events[static_cast<std::size_t>(i)].data.fd);
    if (found != handlers_.end()) {
      // Held here: the handler may forget itself.
      const std::shared_ptr<handler> ready = found->second;
      (*ready)();
    }
  }
}

}  // namespace sinew::tool
