// SPDX-License-Identifier: BSD-3-Clause
// Barriers, spin locks and once.
#include <pthread.h>

#include <cerrno>
#include <new>

#include "abi/threads/parking_lot.hpp"
#include "abi/threads/patience.hpp"
#include "abi/threads/real.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/spin.hpp"

namespace sinew::threads {
namespace {

/// What a pthread_barrier_t holds under us.
struct barrier {
  /// In the low half how many have arrived, in the high one the round. The last to arrive raises
  /// that and clears the other in one step, since threads may be more than parties: who comes then
  /// is of the next round. A release, the others' look an acquire.
  std::atomic<std::uint64_t> state{0};
  std::uint32_t parties;
  /// Between processes: glibc's own, which has something here then.
  std::uint32_t shared = 0;

  static barrier& of(pthread_barrier_t* b) noexcept { return *reinterpret_cast<barrier*>(b); }

  [[nodiscard]] const std::atomic<std::uint32_t>& round() const noexcept {
    const void* low = &state;  // little-endian
    return static_cast<const std::atomic<std::uint32_t>*>(low)[1];
  }

  int wait() noexcept {
    std::uint64_t now = state.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    bool last = false;
    do {
      const auto arrived = static_cast<std::uint32_t>(now);
      SINEW_ASSERT(arrived < parties);
      last = arrived + 1 == parties;
      next = last ? (now | UINT32_MAX) + 1 : now + 1;
    } while (!state.compare_exchange_weak(now, next, std::memory_order_seq_cst));
    if (last) {
      release(&round(), all_of_them);
      return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    // Afterwards the barrier may be gone; waits end only by release() or because the round is over.
    (void)wait_while(round(), static_cast<std::uint32_t>(now >> 32U), "pthread_barrier_wait");
    return 0;
  }
};
static_assert(sizeof(barrier) <= sizeof(pthread_barrier_t));

constexpr int spin_free = 1;  // as glibc has it on x86-64

std::atomic<int>& spin_word(pthread_spinlock_t* s) noexcept {
  return *reinterpret_cast<std::atomic<int>*>(const_cast<int*>(s));
}

/// A pthread_once_t: 0 nobody has begun, 1 somebody is at it, 2 done (as glibc has it, whose header
/// no longer looks). Done is a release, seeing it an acquire.
std::atomic<std::uint32_t>& once_word(pthread_once_t* once) noexcept {
  return *reinterpret_cast<std::atomic<std::uint32_t>*>(once);
}

}  // namespace
}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int pthread_barrier_init(pthread_barrier_t* b, const pthread_barrierattr_t* attributes,
                         unsigned parties) noexcept {
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes != nullptr) {
    ::pthread_barrierattr_getpshared(attributes, &shared);
  }
  if (shared != PTHREAD_PROCESS_PRIVATE) {
    return real().barrier_init(b, attributes, parties);
  }
  if (parties == 0) {
    return EINVAL;
  }
  new (b) barrier{.parties = parties};
  return 0;
}

int pthread_barrier_destroy(pthread_barrier_t* b) noexcept {
  return barrier::of(b).shared != 0 ? real().barrier_destroy(b) : 0;
}

int pthread_barrier_wait(pthread_barrier_t* b) noexcept {
  return barrier::of(b).shared != 0 ? real().barrier_wait(b) : barrier::of(b).wait();
}

int pthread_spin_init(pthread_spinlock_t* s, int) noexcept {
  spin_word(s).store(spin_free, std::memory_order_relaxed);
  return 0;
}

int pthread_spin_destroy(pthread_spinlock_t*) noexcept { return 0; }

int pthread_spin_trylock(pthread_spinlock_t* s) noexcept {
  return spin_word(s).exchange(0, std::memory_order_acquire) == spin_free ? 0 : EBUSY;
}

int pthread_spin_lock(pthread_spinlock_t* s) noexcept {
  for (int tries = 0; pthread_spin_trylock(s) != 0; ++tries) {
    // The holder may be a fiber of this worker.
    tries < 50 ? sinew::cpu_relax() : (void)let_others_run();
  }
  return 0;
}

int pthread_spin_unlock(pthread_spinlock_t* s) noexcept {
  spin_word(s).store(spin_free, std::memory_order_release);
  return 0;
}

int pthread_once(pthread_once_t* once, void (*routine)()) {
  constexpr std::uint32_t begun = 1;
  constexpr std::uint32_t done = 2;
  std::atomic<std::uint32_t>& word = once_word(once);
  for (;;) {
    std::uint32_t now = word.load(std::memory_order_acquire);
    if (now == done) {
      return 0;
    }
    if (now == begun) {
      (void)wait_while(word, begun, "pthread_once");
      continue;
    }
    if (!word.compare_exchange_strong(now, begun, std::memory_order_acquire)) {
      continue;
    }
    struct ending {  // also when the routine throws or is cancelled: then another one tries
      std::atomic<std::uint32_t>& at;
      std::uint32_t then = 0;
      ~ending() {
        SINEW_EXPECT(at.load(std::memory_order_relaxed) == begun);
        at.store(then, std::memory_order_seq_cst);
        release(&at, all_of_them);
      }
    } end{word};
    routine();
    end.then = done;
    return 0;
  }
}

}  // extern "C"
