// SPDX-License-Identifier: BSD-3-Clause
// The workers of a process, and where they look for work from outside when no fiber is ready.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/fiber/fiber.hpp"

namespace sinew::fiber {

/// Where progress comes from: core's runtime is one. Workers call poll() between rounds over the
/// ready fibers and whenever none is ready; at most one worker is in poll() or sleep() at a time.
class poller {
 public:
  /// One bounded round; returns how much happened. Must not suspend.
  virtual int poll() noexcept = 0;
  /// Sleeps until something arrives, wake() is called, or the time is over.
  virtual void sleep(std::uint64_t timeout_ns) noexcept = 0;
  /// Ends the sleep() that is under way, or else the next one at once: a wake() that comes between
  /// the worker's last look and its sleep must not be lost. Any thread, at any time until
  /// set_poller() has returned.
  virtual void wake() noexcept = 0;
  /// Looking again and again is of no use: nothing arrives, and no time passes, but in sleep(),
  /// which lasts exactly as long as it is to. Asked by set_poller().
  [[nodiscard]] virtual bool sleeps_at_once() noexcept { return false; }

 protected:
  ~poller() = default;
};

struct scheduler_options {
  int workers = 0;     ///< 0: SINEW_FIBER_WORKERS, or one per core that this process may use
  bool pin = true;     ///< each worker to a core of its own, if it has as many workers as cores
  bool steal = false;  ///< idle workers take fibers that have not started from busy ones
  /// Stacks lie in memory near the worker on which their fibers run. 0: by the machine's NUMA
  /// nodes, if workers are bound to cores; 1: wherever they are touched first; more: worker i is
  /// taken to be near node i modulo so many.
  int nodes = 0;
  /// Workers beside these that run only what names them (and the parts of pools): for fibers that
  /// block, or must not be kept waiting. Not bound to cores. Their numbers are the last ones.
  int further = 0;
  bool crowded = false;  ///< other processes want the same cores: idle workers give way at once
};

/// One per process at a time. The thread that makes it becomes worker 0 and its caller a fiber
/// named "main"; with one worker no thread is created, so a single-threaded program with a
/// million fibers stays single-threaded. Fibers never move once they have started. Cold.
class scheduler {
 public:
  /// Throws sinew::error if there is one already, or a worker cannot be started.
  explicit scheduler(const scheduler_options& how = {});
  /// On the thread that made it. Waits for all fibers to end.
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  [[nodiscard]] static scheduler* of_process() noexcept;
  [[nodiscard]] int workers() const noexcept;
  /// Of these, as scheduler_options::further.
  [[nodiscard]] int further_workers() const noexcept;
  /// Worker that runs the caller, or -1.
  [[nodiscard]] static int this_worker() noexcept;

  /// Fibers keep running while it changes. Null: none. The poller must outlive its use: after
  /// return the old one is not called any more.
  void set_poller(poller* p) noexcept;
  /// The same for the scheduler of the process, if there is one, and for those made later. For
  /// core. Not while another thread makes or ends a scheduler.
  static void set_process_poller(poller* p) noexcept;

  /// For the child of a fork(), where the calling thread is alone: from here on it is a thread and
  /// no worker, and what was the scheduler is never touched again.
  static void abandon() noexcept;

  /// Fibers beside the main one that have not ended, at least.
  [[nodiscard]] std::uint64_t living() const noexcept;
  /// Visits every fiber that has not ended: name, state in words. For reports. Warm.
  void each(void (*visit)(void* context, const fiber& f, const char* state), void* context) const;

 private:
  struct body;
  body* body_;
};

}  // namespace sinew::fiber
