// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/flusher.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include "sinew/base/kernel_thread.hpp"
#include "sinew/base/last_words.hpp"

namespace sinew::fabric::ucx {
namespace {

/// A sender that goes on, or waits, sends by itself long before.
constexpr long patience_ns = 100'000;

}  // namespace

flusher::~flusher() {
  if (owner_ == ::getpid()) {
    ended_.store(true, std::memory_order_relaxed);
    (void)set_timer(1);
    // Wait: for a thread that was told to end.
    (void)::pthread_join(thread_, nullptr);
  }
  if (timer_ >= 0) {
    (void)::close(timer_);
  }
}

bool flusher::set_timer(long nanoseconds) const noexcept {
  itimerspec once{};
  once.it_value.tv_nsec = nanoseconds;
  return ::timerfd_settime(timer_, 0, &once, nullptr) == 0;
}

void flusher::prepare() noexcept {
  if (timer_ < 0) {
    timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  }
}

bool flusher::start() noexcept {
  prepare();
  if (timer_ < 0 || base::start_kernel_thread(thread_, run, this) != 0) {
    return false;
  }
  owner_ = ::getpid();
  return true;
}

bool flusher::call() noexcept {
  if (owner_ == 0 && !start()) [[unlikely]] {
    return false;
  }
  return set_timer(patience_ns);
}

void* flusher::run(void* self) noexcept {
  auto& me = *static_cast<flusher*>(self);
  base::name_own_thread();
  base::prepare_last_words();
  for (;;) {
    std::uint64_t times = 0;
    // Wait: until the time after a call is over, or the end.
    if (::read(me.timer_, &times, sizeof times) < 0) {
      continue;  // a signal that cannot be blocked
    }
    if (me.ended_.load(std::memory_order_relaxed)) {
      return nullptr;
    }
    me.flush_(me.of_);
  }
}

}  // namespace sinew::fabric::ucx
