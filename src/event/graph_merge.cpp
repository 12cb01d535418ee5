// SPDX-License-Identifier: BSD-3-Clause
// Merges: an event that counts its inputs down.
#include <algorithm>
#include <new>

#include "event/graph.hpp"

namespace sinew::event {
namespace {

constexpr std::size_t smallest_shared_set = 8;
constexpr std::size_t largest_shared_set = 4096;
static_assert(smallest_shared_set > 2, "a merge of two is cheaper than a look at the last set");

/// `remaining` of a merge while its inputs are gathered: more than it can have, so that it cannot
/// trigger.
constexpr std::uint32_t not_counted_yet = 1u << 30;
static_assert(not_counted_yet > event::most_slots);

}  // namespace

// All-to-all levels merge the same set again and again: n * n dependences for n events a level. The
// second merge in a row of the same set makes a slot for the set, without a handle outside, on
// which this merge and further ones depend.
std::uint32_t graph::shared_set(std::span<const event> of, resolver& others) {
  if (!std::equal(of.begin(), of.end(), last_set_.begin(), last_set_.end())) {
    try {
      last_set_.assign(of.begin(), of.end());
    } catch (const std::bad_alloc&) {
      last_set_.clear();  // merges go on without sharing
    }
    set_event_ = {};
    return 0;
  }
  const auto usable = [this] {
    return set_event_.exists() && find(set_event_).known == state::pending;
  };
  if (!usable()) {
    const std::size_t before = in_use_;
    set_event_ = combine(of, 0, others);
    if (in_use_ == before || set_event_.owner() != rank_) {
      set_event_ = {};  // none, one of the inputs, or a poisoned one: nothing to share
    }
  }
  return usable() ? set_event_.index() : 0;
}

event graph::merge(std::span<const event> of, resolver& others) {
  if (of.size() >= smallest_shared_set && of.size() <= largest_shared_set) {
    if (const std::uint32_t set = shared_set(of, others)) {
      const std::uint32_t target = take_slot();
      at(target).link |= armed;
      at(target).remaining = not_counted_yet;
      try {
        add_dependent(set, target);
      } catch (...) {
        abandon(target, 0);
        throw;
      }
      at(target).remaining = 1;
      return handle_of(target);
    }
  }
  return combine(of, 0, others);
}

event graph::settled(std::span<const event> of, resolver& others) {
  return combine(of, tolerant, others);
}

/// Event `target` is not returned: its slot is used again when its inputs have triggered.
void graph::abandon(std::uint32_t target, std::uint32_t inputs) noexcept {
  if (target == 0) {
    return;
  }
  SINEW_EXPECT(at(target).remaining == not_counted_yet);
  at(target).remaining = inputs;
  if (inputs == 0) {
    release_slot(target, at(target));
  }
}

event graph::combine(std::span<const event> of, std::uint32_t flags, resolver& others) {
  SINEW_EXPECT((flags & ~tolerant) == 0);
  std::uint32_t count = 0;
  std::uint32_t target = 0;
  std::uint32_t added = 0;  ///< dependences of `target` made so far
  place only{};
  event only_event;
  bool bad = false;
  try {
    for (const event e : of) {
      const place f = !e.exists()          ? place{0, state::triggered}
                      : e.owner() == rank_ ? find(e)
                                           : others.resolve(e);
      SINEW_ASSERT((f.slot != 0) == (f.known == state::pending));
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
        at(target).remaining = not_counted_yet;
        if (only.slot != 0) {
          add_dependent(only.slot, target);
          ++added;
        }
      }
      add_dependent(f.slot, target);
      ++added;
    }
  } catch (...) {
    abandon(target, added);
    throw;
  }
  if (target == 0) {
    return only_event;
  }
  SINEW_ASSERT(added == count);
  at(target).remaining = count;
  const event made = handle_of(target);
  if (bad) {
    poison_early(target);
  }
  return made;
}

}  // namespace sinew::event
