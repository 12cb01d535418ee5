// SPDX-License-Identifier: BSD-3-Clause
// Channels, for any way of waiting: see waits.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "fiber/cancellation.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/channel.hpp"

namespace sinew::fiber {

inline constexpr std::size_t first_room_of_channel = 16;

/// One call that waits, perhaps at several channels. Who claims it, under the lock of one, does one
/// of its choices; and wakes it without the lock, as the last thing: then the channel may be gone.
template <class Waits>
struct basic_channel<Waits>::waiting_call {
  typename Waits::sleeper who{"channel"};
  std::atomic<bool> claimed{false};
  std::size_t which = 0;  ///< written by who claims
  waited how = waited::done;
  waiting_call* next = nullptr;  ///< that the same call wakes

  /// Wakes all of the list. Each may be gone from there on.
  static void wake_all(waiting_call* first) noexcept {
    while (first != nullptr) {
      waiting_call& now = *first;
      first = now.next;
      now.who.wake();
    }
  }
};

/// Its place at one of them.
template <class Waits>
struct basic_channel<Waits>::waiting_place {
  waiting_call* of = nullptr;
  void* element = nullptr;
  std::size_t which = 0;
  bool sends = false;
  bool listed = false;
  waiting_place* next = nullptr;
  waiting_place* previous = nullptr;

  /// Ends the wait, which has been claimed; it is to be woken with the others of the list.
  void finish(waited how, waiting_call*& to_wake) noexcept {
    SINEW_EXPECT(!listed && of->claimed.load(std::memory_order_relaxed));
    of->which = which;
    of->how = how;
    of->next = std::exchange(to_wake, of);
  }
};

/// The locks of all channels of a call, each once, in the order of their addresses: two calls that
/// want the same ones then never wait for each other.
template <class Waits>
struct basic_channel<Waits>::held_locks {
  held_locks(const choice* choices, std::size_t count, basic_channel** room) noexcept : all(room) {
    for (std::size_t i = 0; i < count; ++i) {
      all[i] = choices[i].on;
    }
    std::sort(all, all + count);
    held = static_cast<std::size_t>(std::unique(all, all + count) - all);
    for (std::size_t i = 0; i < held; ++i) {
      all[i]->lock_.lock();
    }
  }
  ~held_locks() {
    for (std::size_t i = 0; i < held; ++i) {
      all[i]->lock_.unlock();
    }
  }
  held_locks(const held_locks&) = delete;
  held_locks& operator=(const held_locks&) = delete;

  basic_channel** all;
  std::size_t held = 0;
};

template <class Waits>
basic_channel<Waits>::basic_channel(std::size_t element_bytes, std::size_t capacity)
    : element_bytes_(element_bytes), capacity_(capacity) {
  room_ = std::min(capacity, first_room_of_channel);
  ring_ = std::make_unique<std::byte[]>(std::max<std::size_t>(room_ * element_bytes, 1));
}

template <class Waits>
basic_channel<Waits>::~basic_channel() {
  SINEW_EXPECT(first_sender_ == nullptr && first_receiver_ == nullptr);
}

template <class Waits>
void basic_channel<Waits>::push(waiting_place& p) noexcept {
  SINEW_EXPECT(!closed_ && (p.sends ? count_ == capacity_ : count_ == 0));
  waiting_place*& first = p.sends ? first_sender_ : first_receiver_;
  waiting_place*& last = p.sends ? last_sender_ : last_receiver_;
  p.next = nullptr;
  p.previous = last;
  (last == nullptr ? first : last->next) = &p;
  last = &p;
  p.listed = true;
}

template <class Waits>
void basic_channel<Waits>::remove(waiting_place& p) noexcept {
  SINEW_EXPECT(p.listed);
  waiting_place*& first = p.sends ? first_sender_ : first_receiver_;
  waiting_place*& last = p.sends ? last_sender_ : last_receiver_;
  (p.previous == nullptr ? first : p.previous->next) = p.next;
  (p.next == nullptr ? last : p.next->previous) = p.previous;
  p.listed = false;
}

/// The first that nobody else has claimed, claimed and taken out of the line; null if none.
template <class Waits>
typename basic_channel<Waits>::waiting_place* basic_channel<Waits>::pop(
    waiting_place*& first, waiting_place*& last) noexcept {
  while (waiting_place* const p = first) {
    first = p->next;
    (first == nullptr ? last : first->previous) = nullptr;
    p->listed = false;
    // Relaxed: what is handed over is ordered by the sleeper's wake-up.
    if (!p->of->claimed.exchange(true, std::memory_order_relaxed)) {
      return p;
    }
  }
  return nullptr;
}

template <class Waits>
void basic_channel<Waits>::grow() {
  SINEW_EXPECT(count_ == room_ && room_ < capacity_);
  const std::size_t more = std::min(capacity_, std::max(first_room_of_channel, 2 * room_));
  auto larger = std::make_unique<std::byte[]>(more * element_bytes_ + 1);
  const std::size_t head = std::min(count_, room_ - begin_);
  std::memcpy(larger.get(), ring_.get() + begin_ * element_bytes_, head * element_bytes_);
  std::memcpy(larger.get() + head * element_bytes_, ring_.get(), (count_ - head) * element_bytes_);
  ring_ = std::move(larger);
  room_ = more;
  begin_ = 0;
}

template <class Waits>
void basic_channel<Waits>::put(const void* element) {
  if (count_ == room_) {
    grow();
  }
  SINEW_ASSERT(count_ < room_ && begin_ < room_ && room_ <= capacity_);
  std::memcpy(ring_.get() + (begin_ + count_) % room_ * element_bytes_, element, element_bytes_);
  ++count_;
}

template <class Waits>
void basic_channel<Waits>::take(void* element) noexcept {
  SINEW_ASSERT(count_ != 0);
  std::memcpy(element, ring_.get() + begin_ * element_bytes_, element_bytes_);
  begin_ = (begin_ + 1) % room_;
  --count_;
}

template <class Waits>
typename basic_channel<Waits>::attempt basic_channel<Waits>::try_send(const void* element,
                                                                      waiting_call*& to_wake) {
  if (closed_) {
    return attempt::closed;
  }
  if (waiting_place* const to = pop(first_receiver_, last_receiver_)) {
    SINEW_ASSERT(count_ == 0);
    std::memcpy(to->element, element, element_bytes_);
    to->finish(waited::done, to_wake);
    return attempt::done;
  }
  if (count_ >= capacity_) {
    return attempt::impossible;
  }
  put(element);
  return attempt::done;
}

template <class Waits>
typename basic_channel<Waits>::attempt basic_channel<Waits>::try_receive(
    void* element, waiting_call*& to_wake) noexcept {
  if (count_ != 0) {
    take(element);
    if (waiting_place* const from = pop(first_sender_, last_sender_)) {
      put(from->element);  // there is room
      from->finish(waited::done, to_wake);
    }
    return attempt::done;
  }
  if (waiting_place* const from = pop(first_sender_, last_sender_)) {
    SINEW_ASSERT(capacity_ == 0);  // else senders wait only for room
    std::memcpy(element, from->element, element_bytes_);
    from->finish(waited::done, to_wake);
    return attempt::done;
  }
  return closed_ ? attempt::closed : attempt::impossible;
}

/// `places` and `locks` have room for as many as there are choices.
template <class Waits>
typename basic_channel<Waits>::selected basic_channel<Waits>::select_in(const choice* choices,
                                                                        std::size_t count,
                                                                        std::uint64_t deadline_ns,
                                                                        waiting_place* places,
                                                                        basic_channel** locks) {
  waiting_call me;
  waiting_call* to_wake = nullptr;
  selected found{count, waited::timed_out};
  {
    const std::size_t from = count == 1 ? 0 : Waits::next_turn();
    const held_locks all(choices, count, locks);
    for (std::size_t i = 0; i < count && found.which == count; ++i) {
      const std::size_t k = (from + i) % count;
      const choice& c = choices[k];
      const attempt now =
          c.sends ? c.on->try_send(c.element, to_wake) : c.on->try_receive(c.element, to_wake);
      if (now != attempt::impossible) {
        found = {k, now == attempt::done ? waited::done : waited::closed};
      }
    }
    for (std::size_t i = 0; i < count && found.which == count && deadline_ns != 0; ++i) {
      places[i] = {&me, choices[i].element, i, choices[i].sends};
      choices[i].on->push(places[i]);
    }
  }
  waiting_call::wake_all(to_wake);
  if (found.which != count || deadline_ns == 0) {
    return found;
  }
  const auto* const calls_off = calls_off_self();
  const bool woken = me.who.wait(deadline_ns, calls_off);
  if (!woken || count != 1) {
    const held_locks all(choices, count, locks);
    for (std::size_t i = 0; i < count; ++i) {
      if (places[i].listed) {
        choices[i].on->remove(places[i]);
      }
    }
  }
  // From here on nobody can claim it.
  if (!woken && !me.claimed.load(std::memory_order_relaxed)) {
    return {count, ended_early(calls_off)};
  }
  (void)me.who.wait();  // if it has been claimed, it is just being woken
  SINEW_ENSURE(me.which < count && me.how != waited::timed_out);
  return {me.which, me.how};
}

template <class Waits>
typename basic_channel<Waits>::selected basic_channel<Waits>::select(const choice* choices,
                                                                     std::size_t count,
                                                                     std::uint64_t deadline_ns) {
  SINEW_EXPECT(count != 0 && count <= most_choices);
  std::array<waiting_place, most_choices> places;
  std::array<basic_channel*, most_choices> locks;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  return select_in(choices, count, deadline_ns, places.data(), locks.data());
}

template <class Waits>
waited basic_channel<Waits>::send(const void* element, std::uint64_t deadline_ns) {
  const choice only{this, true, const_cast<void*>(element)};
  waiting_place place;
  basic_channel* lock = nullptr;
  return select_in(&only, 1, deadline_ns, &place, &lock).how;
}

template <class Waits>
waited basic_channel<Waits>::receive(void* element, std::uint64_t deadline_ns) {
  const choice only{this, false, element};
  waiting_place place;
  basic_channel* lock = nullptr;
  return select_in(&only, 1, deadline_ns, &place, &lock).how;
}

template <class Waits>
bool basic_channel<Waits>::close() noexcept {
  waiting_call* to_wake = nullptr;
  lock_.lock();
  const bool was = std::exchange(closed_, true);
  while (waiting_place* const p = pop(first_sender_, last_sender_)) {
    p->finish(waited::closed, to_wake);
  }
  while (waiting_place* const p = pop(first_receiver_, last_receiver_)) {
    p->finish(waited::closed, to_wake);
  }
  lock_.unlock();
  waiting_call::wake_all(to_wake);
  return !was;
}

template <class Waits>
std::size_t basic_channel<Waits>::size() noexcept {
  lock_.lock();
  const std::size_t now = count_;
  lock_.unlock();
  return now;
}

}  // namespace sinew::fiber
