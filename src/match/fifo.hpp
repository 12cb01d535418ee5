// SPDX-License-Identifier: BSD-3-Clause
// First-in-first-out queues threaded through the entries themselves: circular, doubly linked, one
// head pointer each. An entry can be in several queues at once, one per lane of its links.
#pragma once

#include <cstddef>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/match/engine.hpp"

namespace sinew::match {

template <class Entry>
[[nodiscard]] inline Entry*& next_of(Entry& e, std::size_t lane) noexcept {
  return reinterpret_cast<Entry*&>(e.link.pointer[2 * lane]);
}

template <class Entry>
[[nodiscard]] inline Entry*& previous_of(Entry& e, std::size_t lane) noexcept {
  return reinterpret_cast<Entry*&>(e.link.pointer[2 * lane + 1]);
}

/// Appends `e` to the queue that `head` begins (null: empty).
template <class Entry>
inline void append(Entry*& head, Entry& e, std::size_t lane) noexcept {
  if (head == nullptr) {
    next_of(e, lane) = &e;
    previous_of(e, lane) = &e;
    head = &e;
    return;
  }
  Entry* const tail = previous_of(*head, lane);
  SINEW_EXPECT(&e != tail && next_of(*tail, lane) == head);
  next_of(e, lane) = head;
  previous_of(e, lane) = tail;
  next_of(*tail, lane) = &e;
  previous_of(*head, lane) = &e;
}

/// Takes `e` out of the queue that `head` begins; leaves null there if it was the only one.
template <class Entry>
inline void unlink(Entry*& head, Entry& e, std::size_t lane) noexcept {
  Entry* const next = next_of(e, lane);
  SINEW_EXPECT(head != nullptr && previous_of(*next, lane) == &e);
  if (next == &e) {
    SINEW_ASSERT(head == &e);
    head = nullptr;
    return;
  }
  Entry* const previous = previous_of(e, lane);
  SINEW_ASSERT(next_of(*previous, lane) == &e);
  next_of(*previous, lane) = next;
  previous_of(*next, lane) = previous;
  if (head == &e) {
    head = next;
  }
}

/// Appends a whole queue, of which `first` is the oldest.
template <class Entry>
inline void append_queue(Entry*& head, Entry& first, std::size_t lane) noexcept {
  if (head == nullptr) {
    head = &first;
    return;
  }
  Entry* const tail = previous_of(*head, lane);
  Entry* const last = previous_of(first, lane);
  SINEW_EXPECT(next_of(*tail, lane) == head && next_of(*last, lane) == &first);
  next_of(*tail, lane) = &first;
  previous_of(first, lane) = tail;
  next_of(*last, lane) = head;
  previous_of(*head, lane) = last;
}

/// Calls fn(entry) from the oldest to the youngest; stops early when it returns true, and then
/// returns that entry, else null.
template <class Entry, class Fn>
inline Entry* find_in(Entry* head, std::size_t lane, Fn&& fn) {
  Entry* e = head;
  if (e == nullptr) {
    return nullptr;
  }
  do {
    if (fn(*e)) {
      return e;
    }
    e = next_of(*e, lane);
  } while (e != head);
  return nullptr;
}

/// Merges two chains, linked by next_of only and ended by null, each in order of age.
template <class Entry>
[[nodiscard]] inline Entry* merged(Entry* a, Entry* b, std::size_t lane) noexcept {
  Entry* first = nullptr;
  Entry** end = &first;
  while (a != nullptr && b != nullptr) {
    SINEW_ASSERT(a->link.sequence != b->link.sequence);
    Entry*& older = a->link.sequence < b->link.sequence ? a : b;
    *end = older;
    end = &next_of(*older, lane);
    older = *end;
  }
  *end = a != nullptr ? a : b;
  return first;
}

/// Sorts such a chain by age, in n log n steps and no memory.
template <class Entry>
[[nodiscard]] inline Entry* sorted_by_age(Entry* chain, std::size_t lane) noexcept {
  Entry* runs[8 * sizeof(std::size_t)] = {};  // run i: null, or 2^i entries
  while (chain != nullptr) {
    Entry* run = std::exchange(chain, next_of(*chain, lane));
    next_of(*run, lane) = nullptr;
    std::size_t i = 0;
    for (; runs[i] != nullptr; ++i) {
      run = merged(std::exchange(runs[i], nullptr), run, lane);
    }
    runs[i] = run;
  }
  for (Entry* run : runs) {
    chain = merged(run, chain, lane);
  }
  SINEW_ENSURE(chain == nullptr || next_of(*chain, lane) == nullptr ||
               chain->link.sequence < next_of(*chain, lane)->link.sequence);
  return chain;
}

/// Enters one finished search into the counts.
inline void count_search(search_counts& counts, std::uint64_t examined) noexcept {
  counts.searches += 1;
  counts.examined += examined;
  if (examined > counts.longest) {
    counts.longest = examined;
  }
}

/// Remembers the greatest size of a store.
inline void count_stored(std::uint64_t& most, std::size_t size) noexcept {
  if (size > most) {
    most = size;
  }
}

}  // namespace sinew::match
