// SPDX-License-Identifier: BSD-3-Clause
// Pools: fibers, and tasklets without a stack of their own, that run in an order of the program's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sinew/base/completion.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

/// What an order sees of a fiber or tasklet.
struct work {
  int priority = 0;
  void* argument = nullptr;   ///< that its function is called with
  std::uint64_t arrival = 0;  ///< who became ready earlier on its worker has a smaller one
};

/// Does `a` run before `b`? A strict weak order of all that is in the pool. Called inside the
/// scheduler: it must neither suspend nor use anything of this module.
using work_order = bool (*)(void* context, const work& a, const work& b) noexcept;
/// The default: the higher priority first, among equals the one that became ready first.
[[nodiscard]] bool by_priority(void* context, const work& a, const work& b) noexcept;

struct pool_part;

/// What a pool's queue is made of.
struct pool_entry {
  work about;
  fiber* runs = nullptr;  ///< null: a tasklet
  struct {
    pool_entry* child = nullptr;
    pool_entry* next = nullptr;
    pool_entry* previous = nullptr;
    bool listed = false;
  } links = {};  ///< the queue's own
};

/// A function that runs on the pool's stack, from its beginning to its end. Made by the caller;
/// lives until `done`, or, with an action that ends it, until that.
struct tasklet : pool_entry {
  /// Last of all it may do away with the tasklet.
  void (*action)(tasklet& me) = nullptr;
  /// For whom the action completes it.
  completion done;
};

struct pool_options {
  work_order order = by_priority;
  void* context = nullptr;
  std::size_t stack_bytes = 0;  ///< of the stack for tasklets, one a worker; 0: SINEW_FIBER_STACK
};

/// Of a worker's share of the pool, one at a time runs: the first by the order, of those that are
/// ready, whenever the one before has suspended, yielded or ended. It is not interrupted for one
/// that would come before it. Fibers beside the pool take turns with it. Shares do not mix: fibers
/// stay on their workers.
class pool {
 public:
  /// For the scheduler there is. Throws std::bad_alloc. Cold.
  explicit pool(const pool_options& how = {});
  /// Waits until all of it have ended; then nobody may use it. No fiber or tasklet of its own.
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// As the function of that name: `how.worker` says whose share. No thread pointer of its own.
  /// Errors: retry(no_memory). Warm.
  [[nodiscard]] status spawn(void (*entry)(void* argument), void* argument, int priority,
                             fiber** made = nullptr, const spawn_options& how = {}) noexcept;
  /// Runs `t.action` when its turn has come, on worker `worker`, or (-1) the caller's, or in turn.
  /// If it suspends, the pool's share of that worker stands still meanwhile: it must not wait for
  /// others of it. Any context. Hot.
  void post(tasklet& t, int worker = -1) noexcept;

  /// Of the calling fiber, from when it is ready again; false if it is in no pool.
  static bool set_priority(int priority) noexcept;

 private:
  friend struct pool_part;
  void one_more() noexcept;
  void one_less() noexcept;
  void stop() noexcept;
  [[nodiscard]] int share(int worker) const noexcept;

  const pool_options how_;
  sleeper_list empty_;        ///< who waits for the end of all
  std::uint64_t living_ = 0;  ///< under its lock
  std::size_t workers_ = 0;
  std::unique_ptr<pool_part[]> parts_;  ///< one a worker
};

}  // namespace sinew::fiber
