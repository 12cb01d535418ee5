// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/joint/watcher.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/kernel_thread.hpp"
#include "sinew/base/signals_blocked.hpp"
#include "sinew/fabric/network.hpp"

namespace sinew::fabric::joint {

watcher::watcher(int events, endpoint& sleeper)
    : events_(events), end_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), sleeper_(sleeper) {
  SINEW_EXPECT(events >= 0);
  SINEW_CHECK(end_ >= 0, "cannot make an event descriptor", std::strerror(errno),
              "raise the limit of open files (ulimit -n)");
}

watcher::~watcher() {
  if (thread_.joinable()) {
    now_.store(ending, std::memory_order_release);
    const std::uint64_t once = 1;
    (void)!write(end_, &once, sizeof once);
    base::futex_wake(now_, 1);
    thread_.join();  // Wait: for its last step.
  }
  close(end_);
}

void watcher::watch(std::uint64_t happened) {
  if (now_.load(std::memory_order_acquire) != idle) {
    return;
  }
  pause_ns_ = vain_.pause_ns(thread_.joinable(), happened);  // else nothing has been woken yet
  now_.store(watching, std::memory_order_release);
  if (thread_.joinable()) {
    base::futex_wake(now_, 1);
    return;
  }
  const base::signals_blocked quiet;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    now_.store(idle, std::memory_order_relaxed);
    throw;
  }
}

void watcher::run() {
  base::name_own_thread();
  for (;;) {
    // Wait: it serves others' waits, which watch.
    base::futex_wait(now_, idle);
    const std::uint32_t now = now_.load(std::memory_order_acquire);
    if (now == ending) {
      return;
    }
    if (now == idle) {
      continue;
    }
    rest();
    pollfd both[2] = {{events_, POLLIN, 0}, {end_, POLLIN, 0}};
    // Wait: the same.
    if (poll(both, 2, -1) <= 0 || both[0].revents == 0) {
      continue;
    }
    std::uint32_t expected = watching;
    if (now_.compare_exchange_strong(expected, idle, std::memory_order_acq_rel)) {
      sleeper_.wake();
    }
  }
}

/// What it would wake the sleeper for has been nothing several times. A late wake of watch() does
/// not cut it short.
void watcher::rest() noexcept {
  const std::int64_t until = now_ns() + static_cast<std::int64_t>(pause_ns_);
  for (std::int64_t left = until - now_ns(); left > 0; left = until - now_ns()) {
    // Wait: bounded; the end of the thread wakes it.
    base::futex_wait(now_, watching, static_cast<std::uint64_t>(left));
    if (now_.load(std::memory_order_acquire) != watching) {
      return;
    }
  }
}

namespace {

class watch_of_two final : public sleep_watch {
 public:
  watch_of_two(endpoint& near, network_endpoint& far)
      : far_(far), watcher_(far.event_descriptor(), near) {}
  [[nodiscard]] bool prepare() override {
    if (!far_.prepare_sleep()) {
      return false;
    }
    watcher_.watch(far_.happened());
    return true;
  }

 private:
  network_endpoint& far_;
  watcher watcher_;
};

}  // namespace
}  // namespace sinew::fabric::joint

namespace sinew::fabric {

std::unique_ptr<sleep_watch> watch_sleep(endpoint& near, network_endpoint& far) {
  return std::make_unique<joint::watch_of_two>(near, far);
}

}  // namespace sinew::fabric
