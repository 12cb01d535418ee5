// SPDX-License-Identifier: BSD-3-Clause
// One rank's events: making, triggering and merging them, and waiting for those of any rank.
//
// Promises (tests/event holds the module to each)
//  once       an event triggers once and for all, poisoned or not; all ranks see the same.
//  poison     what depends on a poisoned event is poisoned, however far; never lost, never spread
//             through settled(). A merge is poisoned with its first poisoned input.
//  order      everything that the triggering thread did before is seen by what the event fires.
//  no stack   a cascade of any length takes no stack and allocates nothing.
//  messages   making an event takes none. A rank that waits for an event of another sends one, once
//             for all its waiters, and is sent one. A trigger of another rank's event is one to the
//             owner, which decides: its sender is notified as all others are.
//  storage    32 bytes for a pending event, 4 for each dependence beyond an event's first (lines of
//             64 bytes, then blocks of 512), 16 for each slot of another rank ever asked for;
//             nothing for what has triggered, but 12 bytes for each run of poisoned generations,
//             and as many for each of those that were cancelled and have not been triggered.
//
// No call waits, but for wait(). All may be called from waiters that are being fired and from
// handlers of messages, but for wait(). Any thread if the runtime is threaded: then a lock of the
// rank is taken once a call, and once for 256 events of a cascade.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/event/event.hpp"
#include "sinew/event/slot.hpp"
#include "sinew/event/waiter.hpp"

namespace sinew::event {

struct options {
  std::uint32_t most_pending = 0;  ///< events at a time; 0: SINEW_EVENT_MOST_PENDING
  /// After so many a slot is not used again. Fewer for tests. The same on all ranks.
  std::uint32_t last_generation = event::last_generation;
};

class barriers;

class system {
 public:
  /// Each rank makes one over its runtime, and its programs and the modules above share it. Takes
  /// one handler of the fabric. Before the first progress of the runtime. Cold.
  explicit system(core::runtime& runtime, const options& how = {});
  /// Nothing may be pending that could still fire.
  ~system();
  system(const system&) = delete;
  system& operator=(const system&) = delete;

  [[nodiscard]] core::runtime& runtime() const noexcept { return runtime_; }
  [[nodiscard]] job_rank rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  // --- events; hot ---

  /// Owned by this rank. Throws sinew::error if there are too many.
  [[nodiscard]] user_event create();
  /// Triggers it, now or when `after` has (poisoned if that is). Twice is an error (sinew::error),
  /// but after cancel() the first one is ignored. If the event is another rank's, its owner finds
  /// that, reports it on stderr, and the second is ignored.
  void trigger(user_event e, event after = {}) { give_trigger(e, false, after); }
  /// Triggers it as failed.
  void poison(user_event e) { give_trigger(e, true, {}); }
  /// Poisons an event that is still pending, whatever it is (a merge, too; its inputs stay as they
  /// are). False if it had triggered or belongs to another rank (then that is asked to).
  bool cancel(event e);

  /// Triggers when all have; poisoned as soon as one is. What has triggered does not count: with
  /// one or none left the result is that event, or none.
  [[nodiscard]] event merge(std::span<const event> of);
  [[nodiscard]] event merge(std::initializer_list<event> of) {
    return merge(std::span<const event>(of.begin(), of.size()));
  }
  [[nodiscard]] event merge(event a, event b) {
    const std::array<event, 2> both{a, b};
    return merge(std::span<const event>(both));
  }
  /// Triggers when all have, poisoned or not, and is not poisoned.
  [[nodiscard]] event settled(std::span<const event> of);
  [[nodiscard]] event settled(event e) { return settled(std::span<const event>(&e, 1)); }

  /// What is known here. For an event of another rank the first call may ask its owner and say
  /// `pending`; the answer comes with progress.
  [[nodiscard]] state look(event e) {
    return !e.exists() || clean_here(e) ? state::triggered : look_closely(e);
  }
  [[nodiscard]] bool has_triggered(event e) { return look(e) != state::pending; }

  /// Until it has triggered; says how. Suspends a fiber, parks a thread. Not from a waiter's fire
  /// nor from a handler.
  state wait(event e) { return !e.exists() || clean_here(e) ? state::triggered : wait_for(e); }

  /// Fires `w` when `e` has triggered, and says `pending`; or says how it has, and `w` is not
  /// touched and will not be.
  [[nodiscard]] state subscribe(event e, waiter& w);
  /// Takes it back; false if it has been or is just being fired. Warm: looks at all waiters of `e`.
  [[nodiscard]] bool unsubscribe(event e, waiter& w);

  /// Calls `call(argument, poisoned)` when `e` has triggered: now if it has. As from a waiter.
  void on(event e, void (*call)(void* argument, bool poisoned) noexcept, void* argument);

  /// Fires `w`, not poisoned, once what this thread is firing now has been fired; now if that is
  /// nothing. For what is better done once for many events.
  void later(waiter& w);
  /// A hint: `e`, of this rank, will be triggered before long.
  void expect(event e) const noexcept { __builtin_prefetch(&slots_[e.index()], 1); }

  // --- messages, for the modules above ---

  /// Cold. Handlers run in progress, one at a time; they must not wait or poll.
  void set_handler(topic t, message_handler function, void* context);
  /// In order between two ranks; one to oneself is handled before it returns. `small` has 56 bits.
  /// Data is copied; any size up to largest_message(). Never waits: what the fabric cannot take yet
  /// is kept and tried again.
  void send(job_rank peer, topic t, std::uint64_t small, std::uint64_t word,
            const void* data = nullptr, std::size_t bytes = 0);
  [[nodiscard]] std::size_t largest_message() const noexcept;

  // --- failures and reports; cold ---

  /// `rank` has died. All other ranks are notified, and messages of `rank` are ignored from now on.
  /// What is still awaited of its events is poisoned, on all ranks, and so is whatever is asked of
  /// it later; so are events entrusted to it, and barriers of which it was part or may have become
  /// part (barrier.hpp). For reservations see there. Events that it was to trigger and that nobody
  /// entrusted to it stay as they are: cancel them. The launcher ends a job in which a rank dies,
  /// but by `sinew run --survive`; then this is called as soon as a rank that waits or polls learns
  /// of it. Again: nothing.
  void lost(job_rank rank);
  [[nodiscard]] bool is_lost(job_rank rank) const noexcept;
  /// `e`, of this rank, will be triggered by `rank`: it is poisoned should that be lost. No
  /// allocation once as many were pending. Warm.
  void entrust(event e, job_rank rank);
  /// Calls `call(context, rank)` when a rank is lost, after its events are poisoned, from lost() or
  /// a handler. Null: taken back.
  void on_lost(void (*call)(void* context, job_rank rank), void* context);

  /// A word for reports of events that never trigger. Kept until it triggers.
  void name(event e, std::string_view word);
  /// Pending events of this rank, who waits for them, and which of other ranks are waited for here.
  /// Printed by a wait that lasts for SINEW_CORE_HANG_TIMEOUT, by all ranks.
  [[nodiscard]] std::string report();
  /// Modules above add their own lines to report(). `ask`: it is a hang, and other ranks may be
  /// asked to print what they know. Null: those of this context are taken back.
  void add_report(std::string (*lines)(void* context, bool ask), void* context);

  /// Pending events of this rank, and slots it has used so far.
  [[nodiscard]] std::size_t pending() const noexcept;
  [[nodiscard]] std::size_t slots() const noexcept;

  [[nodiscard]] barriers& all_barriers() noexcept { return *barriers_; }

 private:
  struct body;
  friend class barriers;
  friend class completion_queue;
  friend class section;
  friend class together;

  [[nodiscard]] bool triggered_here(event e) const noexcept {
    return slots_[e.index()].generation.load(std::memory_order_acquire) > e.generation();
  }
  /// Relaxed: it is raised before the generation of the first poisoned event is.
  [[nodiscard]] bool clean_here(event e) const noexcept {
    return e.owner() == rank_ && triggered_here(e) &&
           !any_poisoned_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] state look_closely(event e);
  state wait_for(event e);
  [[nodiscard]] bool is_firing() const noexcept;
  void give_trigger(event e, bool poisoned, event after);

  core::runtime& runtime_;
  job_rank rank_;
  int size_;
  detail::slot* slots_ = nullptr;  ///< of the graph
  std::atomic<bool> any_poisoned_{false};
  std::unique_ptr<body> body_;
  std::unique_ptr<barriers> barriers_;
  bool served_ = false;  ///< by the runtime's helper thread
};

/// While it lives, what this thread triggers waits; at its end all is worked off at once. Nothing
/// in its scope may wait. Hot.
class together {
 public:
  explicit together(system& s) noexcept;
  ~together();
  together(const together&) = delete;
  together& operator=(const together&) = delete;

 private:
  system& system_;
  const void* before_;
};

}  // namespace sinew::event
