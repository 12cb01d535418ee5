#include "sinew/fiber/channel.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "fiber/cancellation.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fiber {

/// One call that waits, perhaps at several channels. Who claims it, under the lock of one, does one
/// of its choices; and wakes it without the lock, as the last thing: then the channel may be gone.
struct channel_wait {
  sleeper who{"channel"};
  std::atomic<bool> claimed{false};
  std::size_t which = 0;  ///< written by who claims
  waited how = waited::done;
  channel_wait* next = nullptr;  ///< that the same call wakes
};

/// Its place at one of them.
struct channel_place {
  channel_wait* of = nullptr;
  void* element = nullptr;
  std::size_t which = 0;
  bool sends = false;
  bool listed = false;
  channel_place* next = nullptr;
  channel_place* previous = nullptr;
};

/// The locks of all channels of a call, each once, in the order of their addresses: two calls that
/// want the same ones then never wait for each other.
struct channel_locks {
  channel_locks(const channel::choice* choices, std::size_t count, channel** room) noexcept
      : all(room) {
    for (std::size_t i = 0; i < count; ++i) {
      all[i] = choices[i].on;
    }
    std::sort(all, all + count);
    held = static_cast<std::size_t>(std::unique(all, all + count) - all);
    for (std::size_t i = 0; i < held; ++i) {
      all[i]->lock_.lock();
    }
  }
  ~channel_locks() {
    for (std::size_t i = 0; i < held; ++i) {
      all[i]->lock_.unlock();
    }
  }
  channel_locks(const channel_locks&) = delete;
  channel_locks& operator=(const channel_locks&) = delete;

  channel** all;
  std::size_t held = 0;
};

namespace {

constexpr std::size_t first_room = 16;

/// Ends the wait of `p`, which has been claimed; it is to be woken with the others of the list.
void finish(channel_place& p, waited how, channel_wait*& to_wake) noexcept {
  channel_wait& w = *p.of;
  w.which = p.which;
  w.how = how;
  w.next = std::exchange(to_wake, &w);
}

void wake_all(channel_wait* first) noexcept {
  while (first != nullptr) {
    channel_wait& now = *first;
    first = now.next;
    now.who.wake();  // it may be gone from here
  }
}

}  // namespace

channel::channel(std::size_t element_bytes, std::size_t capacity)
    : element_bytes_(element_bytes), capacity_(capacity) {
  room_ = std::min(capacity, first_room);
  ring_ = std::make_unique<std::byte[]>(std::max<std::size_t>(room_ * element_bytes, 1));
}

channel::~channel() { SINEW_EXPECT(first_sender_ == nullptr && first_receiver_ == nullptr); }

void channel::push(channel_place& p) noexcept {
  channel_place*& first = p.sends ? first_sender_ : first_receiver_;
  channel_place*& last = p.sends ? last_sender_ : last_receiver_;
  p.next = nullptr;
  p.previous = last;
  (last == nullptr ? first : last->next) = &p;
  last = &p;
  p.listed = true;
}

void channel::remove(channel_place& p) noexcept {
  channel_place*& first = p.sends ? first_sender_ : first_receiver_;
  channel_place*& last = p.sends ? last_sender_ : last_receiver_;
  (p.previous == nullptr ? first : p.previous->next) = p.next;
  (p.next == nullptr ? last : p.next->previous) = p.previous;
  p.listed = false;
}

/// The first that nobody else has claimed, claimed and taken out of the line; null if none.
channel_place* channel::pop(channel_place*& first, channel_place*& last) noexcept {
  while (channel_place* const p = first) {
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

void channel::grow() {
  const std::size_t more = std::min(capacity_, std::max(first_room, 2 * room_));
  auto larger = std::make_unique<std::byte[]>(more * element_bytes_ + 1);
  const std::size_t head = std::min(count_, room_ - begin_);
  std::memcpy(larger.get(), ring_.get() + begin_ * element_bytes_, head * element_bytes_);
  std::memcpy(larger.get() + head * element_bytes_, ring_.get(), (count_ - head) * element_bytes_);
  ring_ = std::move(larger);
  room_ = more;
  begin_ = 0;
}

void channel::put(const void* element) {
  if (count_ == room_) {
    grow();
  }
  SINEW_ASSERT(count_ < room_ && room_ <= capacity_);
  std::memcpy(ring_.get() + (begin_ + count_) % room_ * element_bytes_, element, element_bytes_);
  ++count_;
}

void channel::take(void* element) noexcept {
  SINEW_ASSERT(count_ != 0);
  std::memcpy(element, ring_.get() + begin_ * element_bytes_, element_bytes_);
  begin_ = (begin_ + 1) % room_;
  --count_;
}

channel::attempt channel::try_send(const void* element, channel_wait*& to_wake) {
  if (closed_) {
    return attempt::closed;
  }
  if (channel_place* const to = pop(first_receiver_, last_receiver_)) {
    SINEW_ASSERT(count_ == 0);
    std::memcpy(to->element, element, element_bytes_);
    finish(*to, waited::done, to_wake);
    return attempt::done;
  }
  if (count_ >= capacity_) {
    return attempt::impossible;
  }
  put(element);
  return attempt::done;
}

channel::attempt channel::try_receive(void* element, channel_wait*& to_wake) noexcept {
  if (count_ != 0) {
    take(element);
    if (channel_place* const from = pop(first_sender_, last_sender_)) {
      put(from->element);  // there is room
      finish(*from, waited::done, to_wake);
    }
    return attempt::done;
  }
  if (channel_place* const from = pop(first_sender_, last_sender_)) {
    std::memcpy(element, from->element, element_bytes_);
    finish(*from, waited::done, to_wake);
    return attempt::done;
  }
  return closed_ ? attempt::closed : attempt::impossible;
}

/// `places` and `locks` have room for as many as there are choices.
channel::selected channel::select_in(const choice* choices, std::size_t count,
                                     std::uint64_t deadline_ns, channel_place* places,
                                     channel** locks) {
  static constinit std::atomic<std::size_t> turn{0};
  channel_wait me;
  channel_wait* to_wake = nullptr;
  selected found{count, waited::timed_out};
  {
    const std::size_t from = count == 1 ? 0 : turn.fetch_add(1, std::memory_order_relaxed);
    const channel_locks all(choices, count, locks);
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
  wake_all(to_wake);
  if (found.which != count || deadline_ns == 0) {
    return found;
  }
  const auto* const calls_off = calls_off_self();
  const bool woken = me.who.wait(deadline_ns, calls_off);
  if (!woken || count != 1) {
    const channel_locks all(choices, count, locks);
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
  return {me.which, me.how};
}

channel::selected channel::select(const choice* choices, std::size_t count,
                                  std::uint64_t deadline_ns) {
  SINEW_EXPECT(count != 0 && count <= most_choices);
  std::array<channel_place, most_choices> places;
  std::array<channel*, most_choices> locks;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  return select_in(choices, count, deadline_ns, places.data(), locks.data());
}

waited channel::send(const void* element, std::uint64_t deadline_ns) {
  const choice only{this, true, const_cast<void*>(element)};
  channel_place place;
  channel* lock = nullptr;
  return select_in(&only, 1, deadline_ns, &place, &lock).how;
}

waited channel::receive(void* element, std::uint64_t deadline_ns) {
  const choice only{this, false, element};
  channel_place place;
  channel* lock = nullptr;
  return select_in(&only, 1, deadline_ns, &place, &lock).how;
}

bool channel::close() noexcept {
  channel_wait* to_wake = nullptr;
  lock_.lock();
  const bool was = std::exchange(closed_, true);
  while (channel_place* const p = pop(first_sender_, last_sender_)) {
    finish(*p, waited::closed, to_wake);
  }
  while (channel_place* const p = pop(first_receiver_, last_receiver_)) {
    finish(*p, waited::closed, to_wake);
  }
  lock_.unlock();
  wake_all(to_wake);
  return !was;
}

std::size_t channel::size() noexcept {
  lock_.lock();
  const std::size_t now = count_;
  lock_.unlock();
  return now;
}

}  // namespace sinew::fiber
