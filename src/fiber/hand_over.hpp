// SPDX-License-Identifier: BSD-3-Clause
// How a fiber that is stuck parts from its worker, how a spare kernel thread takes that over, and
// how the fiber finds a worker again. Steps is how these meet (base/steps.hpp); fibers are anything
// with the `owner` and `place` of control.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "fiber/control.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fiber {

/// The fiber has no worker from here on. Signals for it have no place to go to: it will be ready
/// when it comes back. Those that are under way find that it has no owner. By the fiber itself.
template <class Steps, class Fiber>
void part_from_worker(Fiber& f) noexcept {
  Steps::step();
  f.owner.store(nobody, std::memory_order_release);
  Steps::step();
  f.place.store(nowhere, std::memory_order_release);
  Steps::step();
}

/// Makes it a fiber of the worker of this place, by a caller who signals it there afterwards.
/// Nothing uses its stack.
template <class Steps, class Fiber>
void settle_at(Fiber& f, std::uint64_t place) noexcept {
  SINEW_EXPECT(place != nowhere && f.owner.load(std::memory_order_relaxed) != place >> 32U);
  Steps::step();
  f.place.store(place, std::memory_order_release);
  Steps::step();
  f.owner.store(static_cast<std::uint32_t>(place >> 32U), std::memory_order_release);
  Steps::step();
}

/// Where a signal for it has to go: to this place, or nowhere. If it is nowhere for now, whoever
/// settles it reads what is written here, and so it sees what was written before this call.
template <class Steps, class Fiber>
[[nodiscard]] std::uint64_t place_to_signal(Fiber& f) noexcept {
  Steps::step();
  const std::uint64_t place = f.place.load(std::memory_order_acquire);
  if (place != nowhere) [[likely]] {
    return place;
  }
  Steps::step();
  return f.place.fetch_or(0, std::memory_order_acq_rel);
}

/// Where a worker sends a signal on that it found for a fiber which is not its own. Nowhere, or
/// itself: nobody needs it, since the fiber will be signalled when it has been settled.
template <class Steps, class Fiber>
[[nodiscard]] std::uint64_t place_of_stray(const Fiber& f) noexcept {
  Steps::step();
  return f.place.load(std::memory_order_acquire);
}

/// Where a spare thread waits for work. Whoever needs it takes it off the list first.
template <class Steps, class Worker, class Fiber>
struct basic_berth {
  basic_berth* next = nullptr;   ///< in berth_list
  Worker* work = nullptr;        ///< written before `called`
  Fiber* arrived = nullptr;      ///< who came on the thread that has just entered
  Worker* arrived_at = nullptr;  ///< the worker that is to run it
  /// 1 when there is `work` (release), 0 again by the thread that takes it (acquire).
  std::atomic<std::uint32_t> called{0};
  /// No thread uses it: set (release) on the stack of the worker that its thread went to, seen
  /// (acquire) by who enters.
  std::atomic<bool> empty{false};

  /// The thread that waits here is to carry `w`, which nobody carries from here on. It may have to
  /// be woken, see `called`.
  void call(Worker& w) noexcept {
    SINEW_EXPECT(called.load(std::memory_order_relaxed) == 0);
    Steps::step();
    empty.store(false, std::memory_order_relaxed);
    work = &w;
    Steps::step();
    called.store(1, std::memory_order_release);
    Steps::step();
  }
  /// By that thread. To be followed, on the worker's stack, by be_empty().
  [[nodiscard]] Worker& answer() noexcept {
    SINEW_EXPECT(called.load(std::memory_order_relaxed) == 1 && work != nullptr);
    Steps::step();
    called.store(0, std::memory_order_relaxed);
    return *work;
  }
  [[nodiscard]] bool is_called() const noexcept {
    Steps::step();
    return called.load(std::memory_order_acquire) != 0;
  }
  void be_empty() noexcept {
    empty.store(true, std::memory_order_release);
    Steps::step();
  }
  [[nodiscard]] bool is_empty() const noexcept {
    Steps::step();
    return empty.load(std::memory_order_acquire);
  }
};

/// Those with a thread that waits.
template <class Lock, class Berth>
struct berth_list {
  Lock lock;
  Berth* first = nullptr;  ///< under the lock
  /// Is there one? A hint for the thread that makes them, so relaxed.
  std::atomic<bool> any{false};

  [[nodiscard]] Berth* take() noexcept {
    const std::lock_guard hold(lock);
    Berth* const b = first;
    if (b != nullptr) {
      first = static_cast<Berth*>(b->next);
      any.store(first != nullptr, std::memory_order_relaxed);
    }
    return b;
  }
  void put(Berth& b) noexcept {
    const std::lock_guard hold(lock);
    b.next = first;
    first = &b;
    any.store(true, std::memory_order_relaxed);
  }
};

}  // namespace sinew::fiber
