// SPDX-License-Identifier: BSD-3-Clause
// One worker: a thread that runs fibers, and what it knows of them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "fiber/control.hpp"
#include "fiber/handled.hpp"
#include "fiber/inbox.hpp"
#include "fiber/ready_set.hpp"
#include "fiber/stacks.hpp"
#include "fiber/switch.hpp"
#include "fiber/timers.hpp"
#include "sinew/base/status.hpp"
#include "sinew/base/steps.hpp"

namespace sinew::fiber {

struct hub;

/// Slots for new fibers: of one worker, or of all threads that are none (under a lock).
class slot_source {
 public:
  /// Before its first use: that of which free slots go to and come from `depots`, one a class, and
  /// fresh ones lie in the memory of NUMA node `node` (-1: anywhere).
  void belong_to(slot_cache::depot* depots, int node) noexcept {
    depots_ = depots;
    for (stacks::cursor& each : cursors_) {
      each.node = node;
    }
  }
  void reserve_chunk(std::uint8_t stack_class, std::uint32_t number) noexcept {
    cursors_[stack_class].reserved = number;
  }
  [[nodiscard]] fiber* get(hub& h, std::uint8_t stack_class) noexcept;
  void put(fiber* f) noexcept;

 private:
  std::array<slot_cache, stack_classes> caches_;
  std::array<stacks::cursor, stack_classes> cursors_;
  slot_cache::depot* depots_ = nullptr;
};

/// Switching goes from fiber to fiber: whoever leaves picks the next and switches to it. When none
/// is ready, and every `busy_budget` switches, that is the idle fiber, which has a large stack and
/// polls, wakes timers, rests.
class worker {
 public:
  worker(hub& h, std::uint32_t number);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// Makes the calling thread this worker: its caller is fiber `main`.
  void adopt(fiber& main);
  /// A thread of its own, which idles until the hub stops.
  void start(bool pin);
  void join();

  /// Parks `me`, the current fiber, and runs what is ready; returns when `me` is (perhaps at once).
  /// Hot.
  void leave(fiber& me) noexcept;
  /// Lets others that are ready run before `me`, which is; false if there are none. Hot.
  bool give_way(fiber& me) noexcept;
  /// The same, after a look around; on a worker with less to do, if there is one and `me` may move.
  void end_slice(fiber& me) noexcept;
  /// Runs `f`, a ready fiber of a pool, at once. `me` is ready. Hot.
  void run_now(fiber& me, fiber& f) noexcept;
  /// Ends `me`. Does not return (and is not declared so, to be jumped to: see run()).
  void leave_for_good(fiber& me) noexcept;

  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] fiber* current() const noexcept { return current_.load(std::memory_order_relaxed); }
  /// The current fiber, unless it is the idle one.
  [[nodiscard]] fiber* current_user() const noexcept {
    fiber* f = current();
    return f == &idle_ ? nullptr : f;
  }
  [[nodiscard]] std::uint64_t place_of(std::uint32_t slot_number) const noexcept {
    return std::uint64_t{number_} << 32U | (slot_number ^ number_ * slots_per_chunk);
  }
  /// The kernel's, or 0 before it has started. Any thread.
  [[nodiscard]] int thread_number() const noexcept {
    return thread_number_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const void* where_current_is() const noexcept { return &current_; }
  /// `main` has thread-local storage of its own from now on, and so has this worker.
  void part_from(fiber& main, std::uintptr_t main_base, std::uintptr_t own_base) noexcept;
  /// It shares nothing with the worker but the kernel thread. Any thread.
  [[nodiscard]] bool could_be_left_by(const fiber& f) const noexcept {
    return f.thread_base != 0 && f.thread_base != thread_base_;
  }
  /// The calling kernel thread, which has no worker, runs this one from here on, on the idle
  /// fiber's stack; there it first calls left(argument). The fiber that ran has left it.
  [[noreturn]] void be_carried(void (*left)(void*), void* argument) noexcept;
  /// Makes `f` a fiber of this worker, and ready. It is on no worker, and off its stack. Any
  /// thread.
  void receive(fiber& f) noexcept;
  /// Other fibers wait for their turn, or for a moment that has come. Owner only.
  [[nodiscard]] bool has_ready() const noexcept;
  /// A hint. Any thread.
  [[nodiscard]] bool is_asleep() const noexcept { return inbox_.is_asleep(); }
  /// Ends its sleep, if it sleeps outside poller and reactor; else false. Any thread.
  bool rouse() noexcept;
  /// For reports, from any thread.
  [[nodiscard]] bool is_ready(std::uint32_t position) const noexcept {
    return ready_.holds(position) || inbox_.signals.holds(position);
  }

  /// Leaves a fiber that has not started to whoever gets at it first. Any thread.
  void offer(fiber& f) noexcept;
  [[nodiscard]] bool has_offers() const noexcept {
    return offers_.load(std::memory_order_seq_cst) != 0;
  }

  /// Owner only. Hot.
  void set_ready(std::uint32_t position) noexcept { ready_.set(position); }
  /// Any thread. Hot.
  [[gnu::noinline]] void signal(std::uint32_t position) noexcept {
    inbox_.signals.set(position);
    (void)wake_up();
  }
  /// Around the time in which a fiber of this worker waits for descriptors. Owner only.
  void starts_watching() noexcept;
  void stops_watching() noexcept;
  /// Ends a sleep, if it is asleep (else false). Any thread.
  bool wake_up() noexcept {
    const std::uint32_t was = inbox_.wake_up();
    if (was != inbox<real_steps>::awake) [[unlikely]] {
      end_sleep(was);
      return true;
    }
    return false;
  }

  // Owner only.
  slot_source slots;
  timers sleepers;
  /// Fibers made here, and fibers that ended here. Written by the owner (release), read by
  /// anybody (acquire): see hub::living().
  std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> ended{0};

 private:
  [[nodiscard]] fiber* next() noexcept;
  [[gnu::noinline]] void forward(fiber& f) noexcept;
  [[nodiscard]] worker* lighter(const fiber& f) noexcept;
  void move(fiber& me, worker& to) noexcept;
  [[nodiscard]] fiber* next_turn() noexcept;
  [[gnu::noinline]] bool refill() noexcept;
  bool collect() noexcept;
  bool take_offers(worker& from, std::uint32_t most) noexcept;
  bool steal() noexcept;
  [[nodiscard]] bool may_steal() const noexcept;
  void switch_to(fiber& me, fiber& f) noexcept;
  [[gnu::noinline]] void switch_while_handling(fiber& me, fiber& f) noexcept;
  void switch_stacks(fiber& me, fiber& f) noexcept;
  [[gnu::noinline]] void give_way_to_nobody(fiber& me) noexcept;
  void run_idle() noexcept;
  void look_around() noexcept;
  [[gnu::noinline]] void end_sleep(std::uint32_t how) noexcept;
  void rest() noexcept;
  void learn_from_yield(std::uint64_t began_ns) noexcept;
  void sleep() noexcept;

  static constexpr int busy_budget = 256;

  // What each switch touches.
  std::byte* base_ = nullptr;  ///< control block of the current word's first position
  std::size_t stride_ = 0;
  std::uint32_t base_word_ = nobody;  ///< which word that is
  std::uint64_t numbers_seen_ = 0;    ///< stacks::numbers() for which signal_levels_ is right
  std::size_t signal_levels_ = 0;
  ready_set ready_;
  /// Atomic for reports only.
  std::atomic<fiber*> current_{nullptr};
  hub& hub_;
  const std::uint32_t number_;
  int budget_ = busy_budget;  ///< switches until the idle fiber looks around
  /// hub::left_reactor when it last began to sleep, and whether that sleep was not ended by
  /// anybody.
  std::uint64_t reactor_left_ = 0;
  bool slept_through_ = false;
  std::uint64_t no_yield_until_ns_ = 0;  ///< see learn_from_yield()
  std::uint64_t no_yield_ns_ = 0;        ///< how long it was the last time
  fiber* after_idle_ = nullptr;          ///< who runs next when it has
  unsigned rounds_ = 0;
  fiber* moving_ = nullptr;      ///< has just left for another worker
  worker* moving_to_ = nullptr;  ///< which
  /// Fibers that were ready or running when a slice last ended; 0 when idle. A hint, so relaxed.
  std::atomic<std::uint32_t> load_{0};
  std::uintptr_t thread_base_ = 0;  ///< of the thread itself
  handled* handled_ = nullptr;      ///< likewise; fibers with storage of their own have their own

  std::uint32_t watching_ = 0;  ///< fibers of this worker that wait for descriptors

  // Idle.
  std::uint32_t quiet_rounds_ = 0;
  std::uint64_t quiet_since_ns_ = 0;  ///< 0: not known yet
  fiber idle_;
  std::unique_ptr<lazy_memory> idle_stack_;
  std::thread thread_;
  std::atomic<int> thread_number_{0};  ///< a hint for others, so relaxed

  inbox<real_steps> inbox_;

  // Fibers that may be stolen, first in, first out, under the lock; only with scheduler_options
  // ::steal. The count is written under the lock; read without it to look whether there are any,
  // and sequentially consistent for the sake of sleepers (see inbox.hpp).
  alignas(64) spin_lock offers_lock_;
  std::atomic<std::uint32_t> offers_{0};
  fiber* first_offer_ = nullptr;
  fiber* last_offer_ = nullptr;
};

/// The worker that runs the caller, or null. Fibers stay on their thread, so the compiler may keep
/// it across a switch. A fiber with a thread pointer of its own has its own copy.
extern thread_local constinit worker* here [[gnu::tls_model("initial-exec")]];

}  // namespace sinew::fiber
