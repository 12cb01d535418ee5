// SPDX-License-Identifier: BSD-3-Clause
// Work that begins once an event has triggered, and the event that tells how it ended.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "region/messages.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/event/profile.hpp"
#include "sinew/event/system.hpp"

namespace sinew::region {

/// Calls f(poisoned) when `before` has triggered: now if it has.
template <class F>
void after(sinew::event::system& events, sinew::event::event before, F f) {
  using sinew::event::state;
  if (!before.exists()) {
    f(false);
    return;
  }
  struct task : sinew::event::waiter {
    explicit task(F f) : call(std::move(f)) {
      fire = [](sinew::event::waiter& w) noexcept {
        const std::unique_ptr<task> self(static_cast<task*>(&w));
        base::must_have_memory("what waited for an event began",
                               [&] { self->call(self->poisoned); });
      };
    }
    F call;
  };
  auto waiting = std::make_unique<task>(std::move(f));
  const state now = events.subscribe(before, *waiting);
  if (now == state::pending) {
    (void)waiting.release();  // it deletes itself
    return;
  }
  waiting->call(now == state::poisoned);
}

/// Triggers the event of these bits, or poisons it.
inline void finish(sinew::event::system& events, std::uint64_t post, bool good) {
  SINEW_EXPECT(post != 0);
  const sinew::event::user_event e(sinew::event::event::from_bits(post));
  if (good) {
    events.trigger(e);
  } else {
    events.poison(e);
  }
}

/// The same of a transfer's event, after the response that its caller may want.
inline void finish(sinew::event::system& events, const transfer& t, sinew::event::moved_by way,
                   bool good) {
  if (t.profile.wanted()) [[unlikely]] {
    using sinew::event::performed;
    const performed kind = t.what == action::copy   ? performed::copy
                           : t.what == action::fill ? performed::fill
                                                    : performed::reduction;
    respond(events, t.profile, kind, way, good);
  }
  finish(events, t.post, good);
}

/// When all of these have ended; the event of one is its own.
[[nodiscard]] inline sinew::event::event merged(sinew::event::system& events,
                                                std::span<const sinew::event::event> ends) {
  return ends.size() == 1 ? ends.front() : events.merge(ends);
}

/// A failed operation's event.
[[nodiscard]] inline sinew::event::event poisoned(sinew::event::system& events) {
  const sinew::event::user_event e = events.create();
  events.poison(e);
  SINEW_ENSURE(e.exists() && events.look(e) == sinew::event::state::poisoned);
  return e;
}

}  // namespace sinew::region
