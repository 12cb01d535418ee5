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
  std::uint64_t unused;
  std::uint32_t kind;  ///< where glibc's initialisers put it; its low bits are PTHREAD_MUTEX_*
  std::uint32_t unused_too;
  /// Written by the holder alone; others only compare it with themselves, so relaxed.
  std::atomic<pthread_t> owner;

  [[nodiscard]] static mutex& of(pthread_mutex_t* m) noexcept {
    return *reinterpret_cast<mutex*>(m);
  }
  /// Between processes: glibc's own layout and protocol.
  [[nodiscard]] bool shared() const noexcept { return (kind & 0x80) != 0; }
  [[nodiscard]] std::uint32_t type() const noexcept { return kind & 3; }

  [[nodiscard]] int lock(moment until) noexcept;
  [[nodiscard]] int try_lock() noexcept;
  [[nodiscard]] int unlock() noexcept;

 private:
  [[nodiscard]] int lock_shared(moment until) noexcept;
  void own() noexcept;
  [[nodiscard]] bool mine_already() const noexcept {
    return owner.load(std::memory_order_relaxed) == ::pthread_self();
  }
};
static_assert(sizeof(mutex) <= sizeof(pthread_mutex_t));
static_assert(offsetof(mutex, kind) == offsetof(pthread_mutex_t, __data.__kind));

}  // namespace sinew::threads
