// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/connect_watch.hpp"

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <utility>

namespace sinew::fabric::ucx {
namespace {

constexpr std::chrono::milliseconds longest{3400};

}  // namespace

connect_watch::connect_watch(std::function<void()> late) noexcept : late_(std::move(late)) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::exception&) {
    // No thread is left: then nobody watches, and the kernel gives up by itself.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void connect_watch::watch() {
  std::unique_lock held(mutex_);
  // Wait: for the end of connecting, in another thread, or the time limit.
  if (!over_.wait_for(held, longest, [this] { return ended_; })) {
    held.unlock();
    called_ = true;
    late_();
  }
}

bool connect_watch::end() noexcept {
  if (!thread_.joinable()) {
    return false;
  }
  {
    const std::scoped_lock held(mutex_);
    ended_ = true;
  }
  over_.notify_one();
  // Wait: for `late`, if it is just telling the launcher.
  thread_.join();
  return called_;
}

}  // namespace sinew::fabric::ucx
