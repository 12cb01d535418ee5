// SPDX-License-Identifier: BSD-3-Clause
// The one object in which every asynchronous operation ends: an atomic word, and a link to
// whatever waits on it. The operation does not know what that is.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinew {

/// What a completion fires: a parked thread, a suspended fiber, a counter, a queue, a callback.
/// Derive, set `fire`. It is called exactly once, by whichever thread completes the operation,
/// and must not block; after the call the completion no longer refers to the waiter.
struct waiter {
  void (*fire)(waiter& self) noexcept = nullptr;
};

/// One waiter at a time; wait for several completions by several waiters that share a counter.
///
/// Invariant of word_: `pending` -> (waiter address) -> `done`, or `pending` -> `done`; it goes
/// back to `pending` only in reset(), when nobody else can see the object.
/// Memory order: completing is a release, seeing `done` an acquire, so everything the operation
/// wrote is visible to whoever saw it done. Attaching is a release, so that the completer sees the
/// waiter's fields.
class completion {
 public:
  /// Any context. Grade: hot.
  [[nodiscard]] bool done() const noexcept {
    return word_.load(std::memory_order_acquire) == done_word;
  }

  /// Exactly once per reset(). Any context; fires the waiter if there is one. Grade: hot.
  void complete() noexcept {
    const std::uintptr_t before = word_.exchange(done_word, std::memory_order_acq_rel);
    if (before != pending_word) [[unlikely]] {
      fire(before);
    }
  }

  /// complete() for a job without threads: nobody attaches concurrently, so a plain store will do.
  void complete_alone() noexcept {
    const std::uintptr_t before = word_.load(std::memory_order_relaxed);
    word_.store(done_word, std::memory_order_release);
    if (before != pending_word) [[unlikely]] {
      fire(before);
    }
  }

  /// Arranges for `w` to be fired; false if the operation is already done (then `w` is not and
  /// will not be touched). At most one waiter may be attached. Any context.
  [[nodiscard]] bool attach(waiter& w) noexcept {
    std::uintptr_t expected = pending_word;
    return word_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&w),
                                         std::memory_order_acq_rel, std::memory_order_acquire);
  }

  /// Takes back a waiter; false if it has been or is just being fired. Any context.
  [[nodiscard]] bool detach(waiter& w) noexcept {
    auto expected = reinterpret_cast<std::uintptr_t>(&w);
    return word_.compare_exchange_strong(expected, pending_word, std::memory_order_acq_rel,
                                         std::memory_order_acquire);
  }

  /// Makes it pending again, with a waiter or without. Only while no other context can reach the
  /// object.
  void reset(waiter* attached = nullptr) noexcept {
    word_.store(reinterpret_cast<std::uintptr_t>(attached), std::memory_order_relaxed);
  }

 private:
  static constexpr std::uintptr_t pending_word = 0;
  static constexpr std::uintptr_t done_word = 1;
  static void fire(std::uintptr_t before) noexcept {
    auto* w = reinterpret_cast<waiter*>(before);
    w->fire(*w);
  }

  std::atomic<std::uintptr_t> word_{pending_word};
};

}  // namespace sinew
