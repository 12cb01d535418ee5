// Slots, what depends on them, and cascades.
//
// A cascade is a queue of slots whose events have triggered, linked through the slots themselves:
// to trigger is to put one there; pass() takes them one by one and counts down what depends on
// them, which may put more there. So its length costs neither stack nor memory. Waiters are
// collected, and fired when the queue is empty and messages are sent, without the lock. What a
// waiter triggers goes to the same queue: drain() further up the stack works it off.
#include <algorithm>
#include <new>
#include <string>

#include "event/body.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/trace.hpp"

namespace sinew::event {
namespace {

/// Slots worked off before other threads are let in.
constexpr int slots_per_pass = 256;
/// Whose waiters this thread fires right now.
thread_local const void* firing = nullptr;

/// Moves a ring of waiters, named by its last, behind another.
void splice(waiter*& last, waiter* more) noexcept {
  if (last != nullptr) {
    std::swap(last->next, more->next);
  }
  last = more;
}

}  // namespace

std::uint32_t system::body::take_slot() {
  std::uint32_t i = free;
  if (i != 0) {
    free = at(i).link & link_mask;
    at(i).link &= tainted;
  } else {
    SINEW_CHECK(used + 1 < most, "cannot make one more event",
                std::to_string(in_use) + " are pending on this rank",
                "raise SINEW_EVENT_MOST_PENDING (at most 67108864)");
    i = ++used;
    at(i).generation.store(1, std::memory_order_relaxed);
  }
  ++in_use;
  return i;
}

// Lists are empty by now. A slot without generations left stays as it is, for ever triggered.
void system::body::release_slot(std::uint32_t i, slot& s) noexcept {
  --in_use;
  const std::uint32_t kept = s.link & tainted;
  s.remaining = 0;
  if (s.generation.load(std::memory_order_relaxed) > last_generation) {
    s.link = kept;
    return;
  }
  s.link = kept | free;
  free = i;
}

state system::body::fate(std::uint32_t i, std::uint32_t generation) const {
  if ((at(i).link & tainted) == 0) {
    return state::triggered;
  }
  const run* r = poisoned.at(i).find(generation);
  return r != nullptr ? state::poisoned : state::triggered;
}

system::body::found system::body::find(event e) {
  if (e.owner() != self.rank_) {
    return find_remote(e);
  }
  const std::uint32_t i = e.index();
  SINEW_CHECK(i <= used, "cannot use an event", "its handle was never given out by its owner",
              "pass handles as they are");
  const std::uint32_t now = at(i).generation.load(std::memory_order_relaxed);
  SINEW_CHECK(now >= e.generation(), "cannot use an event",
              "its handle was never given out by its owner", "pass handles as they are");
  return now == e.generation() ? found{i, state::pending} : found{0, fate(i, e.generation())};
}

std::uint32_t system::body::take_chunk(bool large) {
  std::uint32_t& free_list = large ? free_large : free_small;
  std::uint32_t c = free_list;
  if (c != 0) {
    free_list = chunks[c].next;
  } else {
    const std::uint32_t lines = large ? chunk::large_lines : 1;
    SINEW_CHECK(chunks_used + lines < most, "cannot remember one more dependence between events",
                "there is room for 14 times SINEW_EVENT_MOST_PENDING", "raise it");
    c = chunks_used + 1;
    chunks_used += lines;
    chunks[c].most = large ? chunk::large : chunk::small;
  }
  chunks[c].count = 0;
  return c;
}

void system::body::put(std::uint32_t& list, std::uint32_t item) {
  if (list == 0 || chunks[list].count == chunks[list].most) {
    const std::uint32_t c = take_chunk(list != 0);
    chunks[c].next = list;
    list = c;
  }
  chunk& c = chunks[list];
  // Of a large one the items go on over the lines that follow.
  std::uint32_t* const items = c.items;
  items[c.count++] = item;
}

void system::body::depend(std::uint32_t input, std::uint32_t dependent) {
  slot& s = at(input);
  if (s.first == 0) {
    s.first = dependent;
  } else {
    put(s.more, dependent);
  }
}

void system::body::append(slot& s, waiter& w) noexcept {
  w.poisoned = false;
  w.next = &w;
  splice(s.waiters, &w);
}

void system::body::record_poison(std::uint32_t i, std::uint32_t generation) {
  poisoned[i].add({generation, generation, true});
  at(i).link |= tainted;
  self.any_poisoned_.store(true, std::memory_order_relaxed);
}

void system::body::mark(std::uint32_t i, bool bad) {
  slot& s = at(i);
  if ((s.link & alias) == 0) {
    const std::uint32_t g = s.generation.load(std::memory_order_relaxed);
    if (bad) [[unlikely]] {
      record_poison(i, g);
    }
    s.generation.store(g + 1, std::memory_order_release);
  }
  s.link = (s.link & ~link_mask) | (bad ? failed : 0);
  if (s.waiters != nullptr) {
    __builtin_prefetch(s.waiters);  // looked at when the queue has come to this slot
  }
  if (queue_first == 0) {
    queue_first = i;
  } else {
    at(queue_last).link |= i;  // its link was 0
  }
  queue_last = i;
}

void system::body::mark_early(std::uint32_t i) {
  at(i).link |= early;
  ++at(i).remaining;
  mark(i, true);
}

void system::body::arrive(std::uint32_t i, bool bad) {
  slot& s = at(i);
  if (bad && (s.link & (tolerant | early)) == 0) [[unlikely]] {
    mark_early(i);
  }
  if (--s.remaining == 0) {
    if ((s.link & early) == 0) {
      mark(i, false);
    } else {
      release_slot(i, s);
    }
  }
}

void system::body::prefetch(std::uint32_t c) const noexcept {
  for (std::uint32_t line = 0; c != 0 && line < chunk::large_lines; ++line) {
    __builtin_prefetch(&chunks[c + line]);
  }
}

/// Out of line: pass() must not save registers for it.
void system::body::record(std::uint32_t i) const noexcept {
  const slot& s = at(i);
  if ((s.link & alias) == 0) {
    const std::uint32_t next = s.generation.load(std::memory_order_relaxed);
    trace::mark(trace::kind::event, (s.link & failed) != 0 ? "poisoned" : "triggered",
                event(self.rank_, i, next - 1).bits());
  }
}

void system::body::pass(int budget) {
  const bool traced = trace::on();
  while (queue_first != 0 && --budget >= 0) {
    const std::uint32_t i = queue_first;
    slot& s = at(i);
    const bool bad = (s.link & failed) != 0;
    if (traced) [[unlikely]] {
      record(i);
    }
    if (s.first != 0) {
      arrive(std::exchange(s.first, 0), bad);
      for (std::uint32_t c = std::exchange(s.more, 0); c != 0;) {
        const chunk& k = chunks[c];
        prefetch(k.next);
        const std::uint32_t* const items = k.items;
        for (std::uint32_t n = 0; n < k.count; ++n) {
          arrive(items[n], bad);
        }
        c = release_chunk(c);
      }
    }
    if (s.waiters != nullptr) {
      waiter* const last = std::exchange(s.waiters, nullptr);
      __builtin_prefetch(last->next);
      for (waiter* w = last; bad && !w->poisoned; w = w->next) {
        w->poisoned = true;
      }
      splice(ready, last);
    }
    if (s.ranks != 0) {
      notify_all(s, i, bad);
    }
    queue_first = s.link & link_mask;
    finish(i);
  }
}

void system::body::finish(std::uint32_t i) {
  slot& s = at(i);
  s.link &= ~link_mask;
  if ((s.link & early) == 0 || --s.remaining == 0) {
    release_slot(i, s);
  }
}

bool system::body::firing_here() const noexcept { return firing == this; }

void system::body::drain() {
  if (firing_here()) {
    return;
  }
  for (;;) {
    while (queue_first != 0) {
      pass(slots_per_pass);
      if (queue_first != 0 && threaded) {
        release();
        acquire();
      }
    }
    flush();
    if (ready == nullptr) {
      return;
    }
    waiter* const last = std::exchange(ready, nullptr);
    release();
    fire(last);
    acquire();
  }
}

void system::body::fire(waiter* last) noexcept {
  const void* const before = std::exchange(firing, this);
  waiter* w = last->next;
  for (;;) {
    waiter* const next = w->next;
    const bool end = w == last;
    w->fire(*w);  // `w` may be gone
    if (end) {
      break;
    }
    w = next;
  }
  firing = before;
}

void system::later(waiter& w) {
  section s(*body_);
  w.poisoned = false;
  w.next = &w;
  splice(body_->ready, &w);
  s.work();
}

together::together(system& s) noexcept
    : system_(s), before_(std::exchange(firing, s.body_.get())) {}

together::~together() {
  firing = before_;
  section s(*system_.body_);
  s.work();
}

// All-to-all levels merge the same set again and again: fan * fan dependences. From the second
// merge in a row of one set on, the set has a slot of its own, without a handle, on which the
// merges hang.
std::uint32_t system::body::shared_set(std::span<const event> of) {
  if (!std::equal(of.begin(), of.end(), last_set.begin(), last_set.end())) {
    try {
      last_set.assign(of.begin(), of.end());
    } catch (const std::bad_alloc&) {
      last_set.clear();  // merges go on without sharing
    }
    set_event = {};
    return 0;
  }
  const auto usable = [this] {
    return set_event.exists() && handle_of(set_event.index()) == set_event;
  };
  if (!usable()) {
    const std::size_t before = in_use;
    set_event = combine(of, 0);
    if (in_use == before || set_event.owner() != self.rank_) {
      set_event = {};  // none, one of the inputs, or a poisoned one: nothing to share
    }
  }
  return usable() ? set_event.index() : 0;
}

event system::body::merge(std::span<const event> of) {
  if (of.size() >= smallest_shared_set && of.size() <= largest_shared_set) {
    if (const std::uint32_t set = shared_set(of)) {
      const std::uint32_t target = take_slot();
      at(target).link |= armed;
      at(target).remaining = 1;
      depend(set, target);
      return handle_of(target);
    }
  }
  return combine(of, 0);
}

/// Nobody gets to know event `target`: its slot is used again when its inputs have triggered.
void system::body::abandon(std::uint32_t target, std::uint32_t inputs) noexcept {
  if (target == 0) {
    return;
  }
  at(target).remaining = inputs;
  if (inputs == 0) {
    release_slot(target, at(target));
  }
}

event system::body::combine(std::span<const event> of, std::uint32_t flags) {
  constexpr std::uint32_t unknown = 1u << 30;  // no event triggers while it is being made
  std::uint32_t count = 0;
  std::uint32_t target = 0;
  std::uint32_t hung = 0;  // dependences of `target` made so far
  found only{};
  event only_event;
  bool bad = false;
  try {
    for (const event e : of) {
      const found f = e.exists() ? find(e) : found{0, state::triggered};
      if (f.known != state::pending) {
        if (f.known == state::triggered || (flags & tolerant) != 0) {
          continue;
        }
        if (target == 0) {
          return e;
        }
        bad = true;
        break;
      }
      if (++count == 1 && (flags & tolerant) == 0) {
        only = f;
        only_event = e;
        continue;
      }
      if (target == 0) {
        target = take_slot();
        at(target).link |= armed | flags;
        at(target).remaining = unknown;
        if (only.slot != 0) {
          depend(only.slot, target);
          ++hung;
        }
      }
      depend(f.slot, target);
      ++hung;
    }
  } catch (...) {
    abandon(target, hung);
    throw;
  }
  if (target == 0) {
    return only_event;
  }
  at(target).remaining = count;
  const event made = handle_of(target);
  if (bad) {
    mark_early(target);
  }
  return made;
}

}  // namespace sinew::event
