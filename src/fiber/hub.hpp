// SPDX-License-Identifier: BSD-3-Clause
// What the workers of a process share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "fiber/carriers.hpp"
#include "fiber/reactor.hpp"
#include "fiber/stacks.hpp"
#include "fiber/worker.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/fiber/thread_storage.hpp"

namespace sinew::fiber {

struct hub {
  /// `node_numbers`: the kernel's number of each worker's NUMA node; empty: all memory is alike.
  hub(std::uint32_t workers, const guard_counts& guards, std::uint64_t stack_memory,
      std::uint8_t stack_class, const std::vector<int>& node_numbers);

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(workers.size());
  }
  /// Fibers that have not ended, at least: each was counted as made before whatever it did, and
  /// `ended` is read first.
  [[nodiscard]] std::uint64_t living() const noexcept;
  /// A worker for what comes from outside.
  [[nodiscard]] int next_in_turn() noexcept {
    return static_cast<int>(turn.fetch_add(1, std::memory_order_relaxed) % ordinary);
  }
  [[nodiscard]] bool any_offers() const noexcept;
  /// Polls, unless another worker does.
  void poll() noexcept;
  /// Sleeps in the poller if there is one and nobody else is in it; else false. `prepared` is
  /// called before, and cancels by returning false.
  template <class Prepared>
  bool sleep_in_poller(std::uint64_t timeout_ns, Prepared prepared) noexcept;
  /// Sleeps in the reactor unless another worker does; else false. `prepared` as above. `by` calls.
  template <class Prepared>
  bool sleep_in_reactor(const worker& by, std::uint64_t timeout_ns, Prepared prepared) noexcept;
  /// A worker that sleeps without limit is woken, unless it is `by`: somebody has to be ready to
  /// take the place in the reactor.
  [[gnu::noinline]] void rouse_one(const worker& by) noexcept;
  void wake_poller() noexcept;
  [[gnu::noinline]] void wake_monitor() noexcept;
  [[nodiscard]] bool has_poller() const noexcept {
    return poller_.load(std::memory_order_relaxed) != nullptr;
  }
  void set_poller(poller* p) noexcept;
  /// poller::sleeps_at_once(). Relaxed: who sees it late looks around a little longer.
  [[nodiscard]] bool sleeps_at_once() const noexcept {
    return sleeps_at_once_.load(std::memory_order_relaxed);
  }
  /// A slot for a fiber that will run on worker `wanted` (-1: on `by`, or on any), or null. `by`:
  /// the worker that runs the caller, or null. Hot with a cached one for `by` itself.
  [[nodiscard]] fiber* get_slot(worker* by, int wanted, std::uint8_t stack_class) noexcept;
  /// Makes a prepared fiber ready on worker `wanted`, or (-1) on `from`, or in turn. `pooled`: as
  /// one of a pool.
  void launch(fiber& f, worker* from, int wanted, bool pooled) noexcept;
  /// The slot of a fiber that has ended. `by`: the worker that runs the caller, or null.
  void give_back(fiber& f, worker* by) noexcept;

  stacks memory;
  /// Slots of stacks that lie in one NUMA node's memory, or in any. Workers of the node have their
  /// own; what others take and give back is here.
  struct node {
    int number = -1;  ///< the kernel's; -1: any, and there is only this
    std::array<slot_cache::depot, stack_classes> depots;
    spin_lock lock;
    slot_source outside;  ///< under the lock
  };
  std::vector<std::unique_ptr<node>> nodes;
  std::vector<node*> node_of_worker;
  std::vector<std::unique_ptr<worker>> workers;
  const std::uint8_t default_class;
  std::uint32_t ordinary = 1;  ///< workers for fibers that name none; they are the first ones
  bool steals = false;
  /// How long an idle worker looks around without a pause, and then giving its processor away,
  /// before it sleeps.
  struct patience {
    std::uint64_t spin_ns = 0;
    std::uint64_t yield_ns = 0;
  };
  patience alone;       ///< while each worker that is awake can have a processor
  patience in_a_crowd;  ///< else: spin_ns is 0
  bool always_crowded = false;
  /// More workers are awake than there are processors. Those that sleep want none: and giving a
  /// processor away for nothing may cost a slice of whatever else runs there, milliseconds.
  [[nodiscard]] bool crowded() const noexcept {
    return always_crowded || awake.load(std::memory_order_relaxed) > processors;
  }
  std::uint32_t processors = 1;
  /// Workers that do not sleep, and those that have just been woken. A hint, so all accesses are
  /// relaxed; written by whoever moves a worker's asleep_.
  std::atomic<std::uint32_t> awake{0};
  /// A worker that slept does not any more. Sequentially consistent, and so is what the monitor
  /// does in wait_for_workers(): either it sees the worker, or the worker sees that it rests.
  void one_more_awake() noexcept {
    awake.fetch_add(1);
    if (monitor_rests.load() != 0) [[unlikely]] {
      wake_monitor();
    }
  }
  /// 1 while the monitor of stuck workers sleeps because all workers do.
  std::atomic<std::uint32_t> monitor_rests{0};
  carriers spares;
  /// Workers with fibers that wait for descriptors. A hint whether to ask the reactor, so relaxed:
  /// who starts to wait has a worker that will look before it sleeps.
  std::atomic<std::uint32_t> watchers{0};

  /// How often a worker has left the reactor, and how many workers sleep without limit. Who leaves
  /// counts, and then looks who sleeps; who is about to sleep adds itself, and then looks whether
  /// the count is still what it was when another worker was seen in there. All sequentially
  /// consistent, so one of the two sees the other.
  std::atomic<std::uint64_t> left_reactor{0};
  std::atomic<std::uint32_t> sleep_long{0};

  std::atomic<std::uint64_t> made_outside{0};
  std::atomic<std::uint32_t> turn{0};
  std::vector<const void*> current_fibers;  ///< for debuggers

  /// Set once by the destructor (release), after which workers end.
  std::atomic<bool> stopping{false};

 private:
  /// A worker sleeps in the reactor. One is enough. Sequentially consistent, see left_reactor.
  std::atomic<bool> in_reactor_{false};
  /// True while a worker is in the poller. Taken before `poller_` is read, both sequentially
  /// consistent, so that set_poller, which writes it and then reads `polling_`, either is seen or
  /// sees.
  std::atomic<bool> polling_{false};
  std::atomic<poller*> poller_{nullptr};
  std::atomic<bool> sleeps_at_once_{false};
  /// Calls of wake() under way; the same argument.
  std::atomic<int> waking_{0};
};

/// What a debugger needs to list the fibers, also in a build without debug information: addresses
/// and offsets, all words. See gdb/sinew_fibers.py, which checks the version.
struct debug_view {
  std::uint64_t version = 1;
  std::uint64_t table = 0;        ///< of {address of slot 0's control block, distance of slots}
  std::uint64_t chunks = 0;       ///< address of a 32-bit count of entries
  std::uint64_t carved = 0;       ///< address of the first chunk's 32-bit count of slots in use
  std::uint64_t carved_step = 0;  ///< distance of these counts
  std::uint64_t workers = 0;      ///< how many
  std::uint64_t current = 0;      ///< address of an array: where each worker keeps its fiber
  std::uint64_t sp = 0;           ///< offsets in a control block
  std::uint64_t alive = 0;
  std::uint64_t doing = 0;
  std::uint64_t name = 0;
};

/// See watch_storage_switches(). Read at each such switch, so relaxed.
extern constinit std::atomic<storage_switch> storage_watcher;

/// From one thread pointer to another: tells whoever watches.
inline void tell_of_switch(std::uintptr_t from, std::uintptr_t to) noexcept {
  if (const storage_switch seen = storage_watcher.load(std::memory_order_relaxed)) [[unlikely]] {
    seen(from, to);
  }
}

/// The scheduler of the process, or null. Written while there are no fibers.
extern constinit hub* process_hub;

template <class Prepared>
bool hub::sleep_in_poller(std::uint64_t timeout_ns, Prepared prepared) noexcept {
  if (poller_.load(std::memory_order_relaxed) == nullptr || polling_.exchange(true)) {
    return false;
  }
  poller* p = poller_.load();
  if (prepared() && p != nullptr) {
    p->sleep(timeout_ns);
  }
  polling_.store(false);
  return true;
}

template <class Prepared>
bool hub::sleep_in_reactor(const worker& by, std::uint64_t timeout_ns, Prepared prepared) noexcept {
  // Asked first: a set that is opened after prepared() would be slept in, and not be woken there.
  if (!reactor::is_open() || in_reactor_.exchange(true)) {
    return false;
  }
  if (prepared()) {
    reactor::sleep(timeout_ns);
  }
  in_reactor_.store(false);
  left_reactor.fetch_add(1);
  if (sleep_long.load() != 0) [[unlikely]] {
    rouse_one(by);
  }
  return true;
}

}  // namespace sinew::fiber
