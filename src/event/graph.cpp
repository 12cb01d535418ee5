// SPDX-License-Identifier: BSD-3-Clause
// Slots and cascades; merges are in graph_merge.cpp.
//
// A cascade is a queue of slots whose events have triggered, linked through the slots themselves:
// to trigger is to append one; pass() takes them one by one and counts down what depends on them,
// which may append more. So the length of a cascade costs neither stack nor memory. What a waiter
// triggers later goes to the same queue.
#include "event/graph.hpp"

#include <string>

#include "sinew/base/error.hpp"
#include "sinew/base/trace.hpp"

namespace sinew::event {

graph::graph(job_rank rank, const limits& most, number_lists& lists,
             std::atomic<bool>& any_poisoned)
    : rank_(rank),
      most_(most.most_pending),
      last_generation_(most.last_generation),
      slots_(most_),
      lists_(lists),
      any_poisoned_(any_poisoned) {
  SINEW_EXPECT(rank.below(1 << 16));
  SINEW_EXPECT(most_ > 1 && most_ <= event::most_slots);
  SINEW_EXPECT(last_generation_ >= 1 && last_generation_ <= event::last_generation);
}

std::uint32_t graph::take_slot() {
  std::uint32_t i = free_;
  if (i != 0) {
    slot& s = at(i);
    free_ = s.link & link_mask;
    s.link &= tainted;
    SINEW_ASSERT(s.remaining == 0 && s.waiters == nullptr && s.first == 0 && s.more == 0);
  } else {
    SINEW_CHECK(used_ + 1 < most_, "cannot make one more event",
                std::to_string(in_use_) + " are pending on this rank",
                "raise SINEW_EVENT_MOST_PENDING (at most 67108864)");
    i = ++used_;
    at(i).generation.store(1, std::memory_order_relaxed);
  }
  ++in_use_;
  SINEW_ENSURE(in_use_ <= used_);
  return i;
}

// A slot without generations left stays as it is, triggered for ever.
void graph::release_slot(std::uint32_t i, slot& s) noexcept {
  SINEW_EXPECT(in_use_ != 0 && i != queue_first_);
  SINEW_EXPECT(s.waiters == nullptr && s.first == 0 && s.more == 0 && s.subscribers == 0);
  --in_use_;
  const std::uint32_t kept = s.link & tainted;
  s.remaining = 0;
  if (s.generation.load(std::memory_order_relaxed) > last_generation_) {
    s.link = kept;
    return;
  }
  s.link = kept | free_;
  free_ = i;
}

std::uint32_t graph::create_alias() {
  const std::uint32_t i = take_slot();
  at(i).link |= alias | armed;
  return i;
}

void graph::drop_alias(std::uint32_t i) noexcept {
  SINEW_EXPECT((at(i).link & alias) != 0 && at(i).remaining == 0);
  release_slot(i, at(i));
}

void graph::refuse_handle() {
  throw error("cannot use an event", "its handle was never given out by its owner",
              "pass handles as they are");
}

/// Of a slot some of whose events were poisoned.
state graph::how_it_ended(std::uint32_t i, std::uint32_t generation) const {
  SINEW_EXPECT((at(i).link & tainted) != 0);
  const run* r = poisoned_.at(i).find(generation);
  SINEW_ASSERT(r == nullptr || r->poisoned);
  return r != nullptr ? state::poisoned : state::triggered;
}

run graph::settled_run(event e) const {
  SINEW_EXPECT(e.owner() == rank_);
  const slot& s = at(e.index());
  const std::uint32_t newest = s.generation.load(std::memory_order_relaxed) - 1;
  SINEW_EXPECT(e.generation() - 1 < newest);
  const run r = (s.link & tainted) == 0 ? run{1, newest, false}
                                        : poisoned_.at(e.index()).around(e.generation(), newest);
  SINEW_ENSURE(r.from >= 1 && r.holds(e.generation()) && r.to <= newest);
  return r;
}

// Relaxed: readers without the lock see it before the generation, which is released.
void graph::record_poison(std::uint32_t i, std::uint32_t generation) {
  poisoned_[i].add({generation, generation, true});
  at(i).link |= tainted;
  any_poisoned_.store(true, std::memory_order_relaxed);
}

void graph::enqueue(std::uint32_t i, bool bad) {
  slot& s = at(i);
  SINEW_EXPECT(i != 0 && (s.link & failed) == 0);
  if ((s.link & alias) == 0) {
    const std::uint32_t g = s.generation.load(std::memory_order_relaxed);
    SINEW_ASSERT(g <= last_generation_);
    if (bad) [[unlikely]] {
      record_poison(i, g);
    }
    s.generation.store(g + 1, std::memory_order_release);
  }
  s.link = (s.link & ~link_mask) | (bad ? failed : 0);
  if (s.waiters != nullptr) {
    __builtin_prefetch(s.waiters);  // looked at when the queue has come to this slot
  }
  if (queue_first_ == 0) {
    queue_first_ = i;
  } else {
    SINEW_ASSERT((at(queue_last_).link & link_mask) == 0);
    at(queue_last_).link |= i;
  }
  queue_last_ = i;
}

void graph::trigger(std::uint32_t i, bool bad) {
  SINEW_EXPECT(awaits_program(i) || (at(i).link & alias) != 0);
  SINEW_EXPECT(at(i).remaining == 0);
  enqueue(i, bad);
}

void graph::poison_early(std::uint32_t i) {
  SINEW_EXPECT((at(i).link & (armed | alias | poisoned_early)) == armed);
  at(i).link |= poisoned_early;
  ++at(i).remaining;
  enqueue(i, true);
}

void graph::cancel(std::uint32_t i) {
  if (awaits_program(i)) {
    const std::uint32_t g = at(i).generation.load(std::memory_order_relaxed);
    cancelled_[i].add({g, g, true});
    enqueue(i, true);
  } else {
    poison_early(i);
  }
}

bool graph::forgive(event e) {
  SINEW_EXPECT(find(e).known == state::poisoned);
  const auto of_slot = cancelled_.find(e.index());
  if (of_slot == cancelled_.end() || !of_slot->second.remove(e.generation())) {
    return false;
  }
  if (of_slot->second.size() == 0) {
    cancelled_.erase(of_slot);
  }
  return true;
}

inline void graph::input_triggered(std::uint32_t i, bool bad) {
  slot& s = at(i);
  SINEW_EXPECT((s.link & armed) != 0 && s.remaining != 0);
  if (bad && (s.link & (tolerant | poisoned_early)) == 0) [[unlikely]] {
    poison_early(i);
  }
  if (--s.remaining == 0) {
    if ((s.link & poisoned_early) == 0) {
      enqueue(i, false);
    } else {
      release_slot(i, s);
    }
  }
}

/// Out of line: pass() must not save registers for it.
void graph::trace_trigger(std::uint32_t i) const noexcept {
  const slot& s = at(i);
  if ((s.link & alias) == 0) {
    const std::uint32_t next = s.generation.load(std::memory_order_relaxed);
    trace::mark(trace::kind::event, (s.link & failed) != 0 ? "poisoned" : "triggered",
                event(rank_, i, next - 1).bits());
  }
}

void graph::add_notice(std::uint32_t i, slot& s) {
  SINEW_EXPECT((s.link & alias) == 0 && notice_count_ < slots_per_pass);
  const std::uint32_t g = s.generation.load(std::memory_order_relaxed) - 1;
  run how{1, g, false};
  if ((s.link & tainted) != 0) [[unlikely]] {
    how = poisoned_.at(i).around(g, g);
  }
  SINEW_ASSERT(how.to == g && how.poisoned == ((s.link & failed) != 0));
  notices_[notice_count_++] = {event(rank_, i, g), std::exchange(s.subscribers, 0), how};
}

void graph::pass() {
  SINEW_EXPECT(notice_count_ == 0);
  const bool traced = trace::on();
  // In a register: a chain that goes through memory from slot to slot is 2 ns a trigger slower.
  std::uint32_t i = queue_first_;
  for (std::uint32_t left = slots_per_pass; i != 0 && left != 0; --left) {
    slot& s = at(i);
    const bool bad = (s.link & failed) != 0;
    if (traced) [[unlikely]] {
      trace_trigger(i);
    }
    if (s.first != 0) {
      input_triggered(std::exchange(s.first, 0), bad);
      if (s.more != 0) {
        lists_.consume(std::exchange(s.more, 0),
                       [this, bad](std::uint32_t dependent) { input_triggered(dependent, bad); });
      }
    }
    if (s.waiters != nullptr) {
      waiter* const last = std::exchange(s.waiters, nullptr);
      __builtin_prefetch(last->next);
      for (waiter* w = last; bad && !w->poisoned; w = w->next) {
        w->poisoned = true;
      }
      ring::splice(ready_, last);
    }
    if (s.subscribers != 0) {
      add_notice(i, s);
    }
    const std::uint32_t next = s.link & link_mask;
    queue_first_ = next;
    finish(i, s);
    i = next;
  }
}

/// Out of line: inlined into pass(), a chain is 0.7 ns a trigger slower.
[[gnu::noinline]] void graph::finish(std::uint32_t i, slot& s) noexcept {
  s.link &= ~link_mask;
  if ((s.link & poisoned_early) == 0 || --s.remaining == 0) {
    release_slot(i, s);
  }
}

graph::description graph::describe(std::uint32_t i) const noexcept {
  const slot& s = at(i);
  const std::uint32_t g = s.generation.load(std::memory_order_relaxed);
  const bool retired = g > last_generation_;
  return {retired ? event() : event(rank_, i, g),
          (s.link & failed) == 0 && !retired,
          (s.link & alias) != 0,
          (s.link & armed) == 0,
          s.remaining,
          s.waiters != nullptr,
          s.first != 0,
          s.subscribers != 0};
}

}  // namespace sinew::event
