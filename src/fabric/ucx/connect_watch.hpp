// SPDX-License-Identifier: BSD-3-Clause
// Somebody who looks at the clock while UCX connects.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace sinew::fabric::ucx {

/// Over tcp UCX waits inside connect(): for two minutes, where a firewall drops what is sent. From
/// its beginning until end() a thread watches; `late` is called on it, once, when that takes longer
/// than the kernel needs for its third request, which comes after 3 s: a network that was cut for
/// two has answered by then. `late` throws nothing. Cold, as connecting is.
class connect_watch {
 public:
  explicit connect_watch(std::function<void()> late) noexcept;
  connect_watch(const connect_watch&) = delete;
  connect_watch& operator=(const connect_watch&) = delete;
  ~connect_watch() { (void)end(); }

  /// Whether `late` was called. Once.
  bool end() noexcept;

 private:
  void watch();

  std::function<void()> late_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool ended_ = false;   // under mutex_
  bool called_ = false;  // of the thread, until it is joined
  std::thread thread_;   // none, if none could be had
};

}  // namespace sinew::fabric::ucx
