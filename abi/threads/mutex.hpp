// SPDX-License-Identifier: BSD-3-Clause
// What a pthread_mutex_t holds under us.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "abi/threads/parking_lot.hpp"

namespace sinew::threads {

/// All zero but the kind is free: glibc's static initialisers.
struct mutex {
  /// 0 free, 1 held, 2 held and somebody may wait. Taking is an acquire, leaving a release.
  std::atomic<std::uint32_t> word;
  std::uint32_t depth;  ///< of a recursive one, beyond the first
  mutex* next_held;     ///< of a robust one, in its holder's list
  std::uint32_t kind;   ///< where glibc's initialisers put it; its low bits are PTHREAD_MUTEX_*
  /// Of a robust one, written by the holder.
  enum : std::uint32_t { consistent, inconsistent, lost } state;
  /// Written by the holder alone; others only compare it with themselves, so relaxed.
  std::atomic<pthread_t> owner;
  mutex* previous_held;

  [[nodiscard]] static mutex& of(pthread_mutex_t* m) noexcept {
    return *reinterpret_cast<mutex*>(m);
  }
  /// Between processes: glibc's own layout and protocol, see mutex_between.cpp.
  [[nodiscard]] bool shared() const noexcept { return (kind & 0x80) != 0; }
  [[nodiscard]] pthread_mutex_t& of_glibc() noexcept {
    return *reinterpret_cast<pthread_mutex_t*>(this);
  }
  [[nodiscard]] bool robust() const noexcept { return (kind & robust_kind) != 0; }
  [[nodiscard]] std::uint32_t type() const noexcept { return kind & 3; }
  static constexpr std::uint32_t robust_kind = 0x10;  ///< as glibc has it

  [[nodiscard]] int lock(moment until) noexcept;
  [[nodiscard]] int try_lock() noexcept;
  [[nodiscard]] int unlock() noexcept;
  /// The holder says that what a thread left behind is in order again.
  [[nodiscard]] int repaired() noexcept;

 private:
  friend void leave_robust_mutexes() noexcept;
  [[nodiscard]] bool is_special() const noexcept { return kind > 3; }
  [[nodiscard]] bool has_owner() const noexcept {
    return type() == PTHREAD_MUTEX_RECURSIVE || type() == PTHREAD_MUTEX_ERRORCHECK || robust();
  }
  [[nodiscard]] int lock_private(moment until) noexcept;
  [[nodiscard]] int try_lock_private() noexcept;
  [[nodiscard]] int unlock_private() noexcept;
  /// What a lock() answers that has answered `code` so far.
  [[nodiscard]] int taken_robust(int code) noexcept;
  [[nodiscard]] int unlock_robust() noexcept;
  void forget() noexcept;
  void own() noexcept;
  [[nodiscard]] bool mine_already() const noexcept {
    return owner.load(std::memory_order_relaxed) == ::pthread_self();
  }
};
/// Of a thread that ends: those that it holds have lost their owner.
void leave_robust_mutexes() noexcept;

static_assert(sizeof(mutex) <= sizeof(pthread_mutex_t));
static_assert(offsetof(mutex, kind) == offsetof(pthread_mutex_t, __data.__kind));

}  // namespace sinew::threads
