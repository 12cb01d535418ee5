// SPDX-License-Identifier: BSD-3-Clause
// The graph of one rank's events: slots, what depends on them, and cascades. Read this first.
//
// Pure: no messages, no lock and no threads of its own (a trace, if one is taken, reads a clock).
// What happens goes in by trigger() and cancel(); after pass() two things come out: the waiters to
// run (take_ready) and the notices for other ranks that have subscribed (take_notices). An event of
// another rank enters as an alias, a slot without a handle that the caller triggers.
//
//   event a = g.create();
//   event both = g.merge({a, b}, others);
//   g.trigger(g.find(a).slot, false);              // a is in the queue now
//   while (g.has_queue()) { g.pass(); ... take_notices() ... }
//   ... take_ready() ...
//
// Handles with generations and merges are Realm's (Treichler, Bauer, Aiken, "Realm: An Event-Based
// Low-Level Runtime for Distributed Memory Architectures", PACT 2014), as is, in its later
// versions, poison that spreads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/number_lists.hpp"
#include "event/reserved.hpp"
#include "event/ring.hpp"
#include "event/runs.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/event/event.hpp"
#include "sinew/event/slot.hpp"
#include "sinew/event/waiter.hpp"

namespace sinew::event {

class graph {
 public:
  using slot = detail::slot;

  struct limits {
    std::uint32_t most_pending;  ///< slots, one of which is not used
    std::uint32_t last_generation = event::last_generation;
  };
  /// What a handle means here: a pending event's slot, or how the event ended.
  struct place {
    std::uint32_t slot;  ///< 0: it has triggered
    state known;
  };
  /// Finds the slots of other ranks' events when one is merged: their aliases.
  class resolver {
   public:
    [[nodiscard]] virtual place resolve(event e) = 0;

   protected:
    ~resolver() = default;
  };
  /// Tells other ranks that `what` has triggered, and how: generations how.from..how.to, of which
  /// it is the last, ended alike.
  struct notice {
    event what;
    std::uint32_t subscribers = 0;  ///< as they were entered by the caller
    run how;
  };

  /// `any_poisoned` becomes true (relaxed) before the first poisoned event's generation is raised,
  /// for readers without the lock.
  graph(job_rank rank, const limits& most, number_lists& lists, std::atomic<bool>& any_poisoned);

  // --- making events ---

  /// Throws sinew::error if there are too many.
  [[nodiscard]] event create() { return handle_of(take_slot()); }
  /// A slot that stands for an event of another rank. No handle names it.
  [[nodiscard]] std::uint32_t create_alias();
  /// It is not needed after all: nothing depends on it.
  void drop_alias(std::uint32_t i) noexcept;
  /// Triggers when all of `of` have, poisoned as soon as one is. What has triggered does not count:
  /// one event that is left is returned itself.
  [[nodiscard]] event merge(std::span<const event> of, resolver& others);
  /// Triggers when all have, poisoned or not, and is not poisoned.
  [[nodiscard]] event settled(std::span<const event> of, resolver& others);

  // --- one event; `i` is a pending event's slot ---

  /// Of an event of this rank. Throws sinew::error if its handle was never given out.
  [[nodiscard]] place find(event e) const {
    SINEW_EXPECT(e.exists() && e.owner() == rank_);
    const std::uint32_t i = e.index();
    if (i > used_) [[unlikely]] {
      refuse_handle();
    }
    const slot& s = at(i);
    const std::uint32_t now = s.generation.load(std::memory_order_relaxed);
    if (now == e.generation() && i != 0) {
      return {i, state::pending};
    }
    if (now < e.generation() || e.generation() == 0) [[unlikely]] {
      refuse_handle();
    }
    return {0, (s.link & tainted) == 0 ? state::triggered : how_it_ended(i, e.generation())};
  }
  /// It waits for a program to trigger it, not for inputs.
  [[nodiscard]] bool awaits_program(std::uint32_t i) const noexcept {
    return (at(i).link & armed) == 0;
  }
  /// A program's event or an alias triggers: it waits in the queue until pass() notifies its
  /// dependents.
  void trigger(std::uint32_t i, bool poisoned);
  /// A program's event will trigger when slot `input` does.
  void trigger_after(std::uint32_t i, std::uint32_t input) {
    SINEW_EXPECT(awaits_program(i));
    add_dependent(input, i);
    at(i).link |= armed;
    at(i).remaining = 1;
  }
  /// Poisons it, whatever it waits for. If that is the program, its next trigger is forgiven.
  void cancel(std::uint32_t i);
  /// The program triggers an event that is poisoned already. False: it has triggered it before.
  [[nodiscard]] bool forgive(event e);
  void subscribe(std::uint32_t i, waiter& w) noexcept { ring::push(at(i).waiters, w); }
  [[nodiscard]] bool unsubscribe(std::uint32_t i, waiter& w) noexcept {
    return ring::remove(at(i).waiters, w);
  }
  /// What take_notices() returns with it; the caller's word, 0: no notice.
  [[nodiscard]] std::uint32_t& subscribers(std::uint32_t i) noexcept { return at(i).subscribers; }
  /// Of an event of this rank that has triggered: the generations of its slot around it that ended
  /// as it did, all that have triggered so far considered.
  [[nodiscard]] run settled_run(event e) const;

  // --- cascades ---

  /// Events have triggered whose dependents have not been notified yet.
  [[nodiscard]] bool has_queue() const noexcept { return queue_first_ != 0; }
  /// Works off at most slots_per_pass of these. The notices of the last pass have been taken.
  void pass();
  static constexpr std::uint32_t slots_per_pass = 256;
  /// Valid until the next pass().
  [[nodiscard]] std::span<const notice> take_notices() noexcept {
    return {notices_.data(), std::exchange(notice_count_, 0)};
  }
  [[nodiscard]] bool has_ready() const noexcept { return ready_ != nullptr; }
  /// The waiters to run, in order: a ring, by its last (null: none).
  [[nodiscard]] waiter* take_ready() noexcept { return std::exchange(ready_, nullptr); }
  /// One more of these, not poisoned.
  void add_ready(waiter& w) noexcept { ring::push(ready_, w); }

  // --- what there is ---

  [[nodiscard]] job_rank rank() const noexcept { return rank_; }
  [[nodiscard]] slot* slots() const noexcept { return slots_.data(); }
  /// Slots in use, aliases too; slots that ever were.
  [[nodiscard]] std::size_t pending() const noexcept { return in_use_; }
  [[nodiscard]] std::uint32_t used() const noexcept { return used_; }
  /// For reports: a slot in words.
  struct description {
    event handle;
    bool pending;         ///< if it is in use, it has not triggered
    bool alias;           ///< stands for another rank's event
    bool awaits_program;  ///< it has not been triggered
    std::uint32_t inputs;
    bool has_waiters;
    bool has_dependents;
    bool has_subscribers;
  };
  [[nodiscard]] description describe(std::uint32_t i) const noexcept;
  [[nodiscard]] bool feeds(std::uint32_t input, std::uint32_t dependent) const noexcept {
    return at(input).first == dependent || lists_.contains(at(input).more, dependent);
  }

 private:
  // Flags of a slot, above 26 bits of link.
  static constexpr std::uint32_t link_mask = event::most_slots - 1;
  static constexpr std::uint32_t tainted = 1u << 26;  ///< an earlier generation was poisoned; stays
  static constexpr std::uint32_t armed = 1u << 27;    ///< triggers by its inputs, not by a program
  static constexpr std::uint32_t tolerant = 1u << 28;  ///< poison of inputs does not count
  static constexpr std::uint32_t failed = 1u << 29;    ///< has triggered, poisoned
  /// Has triggered, poisoned, before its inputs. The slot is used again when these have triggered
  /// and the queue has come to it: `remaining` counts these, and one for the queue.
  static constexpr std::uint32_t poisoned_early = 1u << 30;
  static constexpr std::uint32_t alias = 1u << 31;  ///< stands for an event of another rank
  static_assert(((tainted | armed | tolerant | failed | poisoned_early | alias) & link_mask) == 0);
  static_assert((tainted | armed | tolerant | failed | poisoned_early | alias | link_mask) ==
                ~std::uint32_t{0});

  [[nodiscard]] slot& at(std::uint32_t i) const noexcept {
    SINEW_EXPECT(i <= used_);
    return slots_[i];
  }
  [[nodiscard]] event handle_of(std::uint32_t i) const noexcept {
    return event(rank_, i, at(i).generation.load(std::memory_order_relaxed));
  }
  [[nodiscard]] std::uint32_t take_slot();
  void release_slot(std::uint32_t i, slot& s) noexcept;
  [[noreturn]] static void refuse_handle();
  [[nodiscard]] state how_it_ended(std::uint32_t i, std::uint32_t generation) const;
  void add_dependent(std::uint32_t input, std::uint32_t dependent) {
    SINEW_EXPECT(input != 0 && dependent != 0 && input != dependent);
    slot& s = at(input);
    if (s.first == 0) {
      s.first = dependent;
    } else {
      lists_.put(s.more, dependent);
    }
  }
  void enqueue(std::uint32_t i, bool poisoned);
  [[gnu::noinline, gnu::cold]] void poison_early(std::uint32_t i);
  void input_triggered(std::uint32_t i, bool poisoned);
  [[gnu::noinline, gnu::cold]] void record_poison(std::uint32_t i, std::uint32_t generation);
  void add_notice(std::uint32_t i, slot& s);
  void finish(std::uint32_t i, slot& s) noexcept;
  [[gnu::noinline, gnu::cold]] void trace_trigger(std::uint32_t i) const noexcept;
  [[nodiscard]] event combine(std::span<const event> of, std::uint32_t flags, resolver& others);
  [[nodiscard]] std::uint32_t shared_set(std::span<const event> of, resolver& others);
  void abandon(std::uint32_t target, std::uint32_t inputs) noexcept;

  const job_rank rank_;
  const std::uint32_t most_;
  const std::uint32_t last_generation_;
  reserved<slot> slots_;  ///< 0 is not used
  number_lists& lists_;   ///< of dependents
  std::atomic<bool>& any_poisoned_;
  std::unordered_map<std::uint32_t, runs> poisoned_;   ///< by slot
  std::unordered_map<std::uint32_t, runs> cancelled_;  ///< likewise; not triggered by the program

  std::uint32_t used_ = 0;  ///< slots that ever were in use
  std::uint32_t free_ = 0;
  std::size_t in_use_ = 0;

  std::uint32_t queue_first_ = 0;
  std::uint32_t queue_last_ = 0;
  waiter* ready_ = nullptr;  ///< the last of a ring
  std::uint32_t notice_count_ = 0;
  std::array<notice, slots_per_pass> notices_{};

  std::vector<event> last_set_;  ///< what was merged last
  event set_event_;              ///< triggers with it; of a slot without a handle outside
};

}  // namespace sinew::event
