// SPDX-License-Identifier: BSD-3-Clause
// One worker's share of a pool: what of it is ready, in order, and the fiber that gives it its
// turn.
#pragma once

#include <atomic>
#include <cstdint>

#include "fiber/control.hpp"
#include "fiber/pairing_heap.hpp"
#include "sinew/fiber/pool.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

class worker;

/// fiber::owner of a pool's fibers: none of the workers, so that none runs it when it finds it
/// ready (worker::next); the fiber comes to its part instead, which hands it the worker.
inline constexpr std::uint32_t in_pool = nobody - 1;

/// A fiber of a pool, in its fiber::argument while it lives.
struct pooled : pool_entry {
  pool_part* part = nullptr;
  void (*entry)(void*) = nullptr;
  int priority = 0;  ///< of the next arrival; its own fiber writes it
};

struct pool_part {
  pool_part() = default;
  ~pool_part() = default;
  pool_part(const pool_part&) = delete;
  pool_part& operator=(const pool_part&) = delete;

  /// `f`, of this worker, has become ready. On its worker, outside of fibers. Nothing if it is
  /// here.
  static void arrives(fiber& f, worker& at) noexcept;
  /// Any thread.
  void take(tasklet& t) noexcept;
  /// What its fiber does, until stop.
  void run() noexcept;
  /// One of the pool has ended.
  static void ended(pool& of) noexcept;

  struct order {
    const pool_part* of;
    bool operator()(const pool_entry& a, const pool_entry& b) const noexcept;
  };

  pool* of = nullptr;
  fiber* turns = nullptr;  ///< its own fiber

  // Its worker only.
  pairing_heap<pool_entry, order> ready{order{this}};
  std::uint64_t arrivals = 0;

  // Under the lock: tasklets that nobody has taken into `ready` yet, first in, first out.
  spin_lock lock;
  pool_entry* first = nullptr;
  pool_entry* last = nullptr;
  std::atomic<bool> stopping{false};  ///< a release; followed by a resume()

 private:
  void add(pool_entry& e, int priority) noexcept;
  void collect() noexcept;
};

}  // namespace sinew::fiber
