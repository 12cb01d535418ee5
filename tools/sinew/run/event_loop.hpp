// One epoll and what to do when a descriptor is ready.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "sinew/boot/descriptor.hpp"

namespace sinew::tool {

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

  /// Waits at most `timeout_ms` (-1: no limit) and calls the handlers of what is ready.
  void run_once(int timeout_ms);

 private:
  bool watch(int descriptor, std::uint32_t events, handler ready);

  boot::descriptor epoll_;
  std::unordered_map<int, std::shared_ptr<handler>> handlers_;
};

}  // namespace sinew::tool
