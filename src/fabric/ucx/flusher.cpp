#include "fabric/ucx/flusher.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include "sinew/base/futex.hpp"
#include "sinew/base/kernel_thread.hpp"
#include "sinew/base/last_words.hpp"

namespace sinew::fabric::ucx {
namespace {

/// A sender that goes on, or waits, sends by itself long before.
constexpr std::uint64_t patience_ns = 50'000;
constexpr unsigned long timer_slack_ns = 1'000;  // the kernel's 50,000 would double it

}  // namespace

flusher::~flusher() {
  if (owner_ == 0 || ::getpid() != owner_) {
    return;
  }
  word_.store(ended, std::memory_order_release);
  base::futex_wake(word_, 1);
  // Wait: for a thread that was told to end.
  (void)::pthread_join(thread_, nullptr);
}

bool flusher::call() noexcept {
  if (owner_ == 0) [[unlikely]] {
    if (base::start_kernel_thread(thread_, run, this) != 0) {
      return false;
    }
    owner_ = ::getpid();
  }
  if (word_.load(std::memory_order_relaxed) == idle) {
    word_.store(called, std::memory_order_release);
    base::futex_wake(word_, 1);
  }
  return true;
}

void* flusher::run(void* self) noexcept {
  auto& me = *static_cast<flusher*>(self);
  base::prepare_last_words();
  (void)::prctl(PR_SET_TIMERSLACK, timer_slack_ns);
  for (;;) {
    std::uint32_t now = me.word_.load(std::memory_order_acquire);
    if (now == idle) {
      // Wait: until somebody calls, or the end.
      base::futex_wait(me.word_, idle);
      continue;
    }
    if (now == called) {
      // Wait: bounded.
      base::futex_wait(me.word_, called, patience_ns);
      (void)me.word_.compare_exchange_strong(now, idle, std::memory_order_acq_rel);
    }
    if (now == ended) {
      return nullptr;
    }
    me.flush_(me.of_);
  }
}

}  // namespace sinew::fabric::ucx
