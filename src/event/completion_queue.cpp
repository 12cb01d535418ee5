// SPDX-License-Identifier: BSD-3-Clause
// Events in the order in which they trigger.
#include "sinew/event/completion_queue.hpp"

#include <deque>
#include <exception>
#include <utility>

#include "event/filled.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/event/system.hpp"

namespace sinew::event {

struct completion_queue::body {
  /// One event that was added: a waiter until it triggers, then a link of the list.
  struct entry : waiter {
    body* home;
    event what;
    std::uint64_t tag;
    bool bad;
    entry* after;
  };

  explicit body(system& of) : s(of) {}

  entry* take() {
    const base::guard held(lock, s.runtime().threaded());
    entry* const e = free == nullptr ? &entries.emplace_back() : std::exchange(free, free->after);
    ++size;
    return e;
  }

  void push(entry& e) {
    user_event wake;
    {
      const base::guard held(lock, s.runtime().threaded());
      SINEW_EXPECT((first == nullptr) == (last == nullptr) && size != 0);
      e.after = nullptr;
      (last == nullptr ? first : last->after) = &e;
      last = &e;
      wake = std::exchange(filled, {});
      SINEW_ENSURE(!filled.exists() && first != nullptr);
    }
    if (wake.exists()) {
      s.trigger(wake);
    }
  }

  system& s;
  base::lock lock;  ///< guards what follows; never held while the system is called
  std::deque<entry> entries;
  entry* free = nullptr;
  entry* first = nullptr;  ///< triggered, the oldest
  entry* last = nullptr;
  std::size_t size = 0;
  user_event filled;  ///< what filled() returned and has not triggered
};

completion_queue::completion_queue(system& s) : body_(std::make_unique<body>(s)) {}

completion_queue::~completion_queue() {
  SINEW_EXPECT(body_->size == 0 || std::uncaught_exceptions() != 0);
  if (body_->size != 0) {
    (void)body_.release();  // an exception is on its way; events may still fire into the entries
  }
}

void completion_queue::add(event e, std::uint64_t tag) {
  body::entry& mine = *body_->take();
  SINEW_ASSERT(mine.next == nullptr || mine.home == body_.get());
  mine.home = body_.get();
  mine.what = e;
  mine.tag = tag;
  mine.fire = [](waiter& w) noexcept {
    auto& self = static_cast<body::entry&>(w);
    self.bad = self.poisoned;
    self.home->push(self);
  };
  const state now = body_->s.subscribe(e, mine);
  if (now != state::pending) {
    mine.bad = now == state::poisoned;
    body_->push(mine);
  }
}

std::size_t completion_queue::pop(std::span<completed> out) {
  const base::guard held(body_->lock, body_->s.runtime().threaded());
  std::size_t n = 0;
  while (n < out.size() && body_->first != nullptr) {
    body::entry& e = *body_->first;
    out[n++] = {e.what, e.tag, e.bad};
    body_->first = e.after;
    e.after = std::exchange(body_->free, &e);
  }
  if (body_->first == nullptr) {
    body_->last = nullptr;
  }
  SINEW_ASSERT(n <= body_->size);
  body_->size -= n;
  return n;
}

event completion_queue::filled() {
  return when_filled(body_->s, body_->lock, body_->filled,
                     [this] { return body_->first == nullptr; });
}

std::size_t completion_queue::size() const noexcept {
  const base::guard held(body_->lock, body_->s.runtime().threaded());
  return body_->size;
}

}  // namespace sinew::event
