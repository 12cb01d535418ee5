// SPDX-License-Identifier: BSD-3-Clause
// What to do when a descriptor is ready.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "sinew/boot/descriptor.hpp"

namespace sinew::tool {

/// Waits, outside of any loop, until the descriptor is ready for one of poll()'s `events`; false if
/// it is not before `until_ns`, by now_ns().
[[nodiscard]] bool wait_ready(int descriptor, short events, std::int64_t until_ns);

/// Waits by epoll; by poll, whose cost grows with the number of descriptors, where the system or a
/// container's profile refuses epoll.
class event_loop {
 public:
  using handler = std::function<void()>;

  event_loop();

  /// False if the descriptor cannot be waited for (a regular file: it is always ready). A
  /// descriptor is watched for one direction only. Hang-ups and errors count as ready.
  bool watch_input(int descriptor, handler ready);
  bool watch_output(int descriptor, handler ready);
  /// Before the descriptor is closed. A handler may forget any descriptor, its own too.
  void forget(int descriptor);

  /// Waits at most `timeout_ms` (-1: no limit) and calls the handlers of what is ready. Returns
  /// early when a signal comes.
  void run_once(int timeout_ms);

 private:
  struct watched {
    std::shared_ptr<handler> ready;
    short events;
  };

  bool watch(int descriptor, short events, handler ready);
  void wait_by_epoll(int timeout_ms);
  void wait_by_poll(int timeout_ms);
  void call(int descriptor);

  boot::descriptor epoll_;  // none: by poll
  std::unordered_map<int, watched> handlers_;
};

}  // namespace sinew::tool
