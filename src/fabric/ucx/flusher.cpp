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
    word_.store(ended, std::memory_order_release);
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

bool flusher::start() noexcept {
  if (timer_ < 0) {
    timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  }
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
  if (word_.load(std::memory_order_relaxed) == idle) {
    word_.store(called, std::memory_order_release);
    if (!set_timer(patience_ns)) {
      word_.store(idle, std::memory_order_release);
      return false;
    }
  }
  return true;
}

void* flusher::run(void* self) noexcept {
  auto& me = *static_cast<flusher*>(self);
  base::prepare_last_words();
  for (;;) {
    std::uint64_t times = 0;
    // Wait: until the time after a call is over, or the end.
    if (::read(me.timer_, &times, sizeof times) < 0) {
      continue;  // a signal that cannot be blocked
    }
    std::uint32_t now = called;
    (void)me.word_.compare_exchange_strong(now, idle, std::memory_order_acq_rel);
    if (now == ended) {
      return nullptr;
    }
    me.flush_(me.of_);
  }
}

}  // namespace sinew::fabric::ucx
