// SPDX-License-Identifier: BSD-3-Clause
// Waiters that the module makes itself: a call of a program's function, or a trigger of another
// rank's event, once an event of this rank (or an alias) has triggered.
#pragma once

#include <deque>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/event/event.hpp"
#include "sinew/event/waiter.hpp"

namespace sinew::event {

struct continuation : waiter {
  void* home;                                            ///< the pool's owner
  void (*call)(void* argument, bool poisoned) noexcept;  ///< null: trigger `target`
  void* argument;
  user_event target;
  continuation* free;  ///< the next one in the pool, while it is in there
};

/// Memory is kept to the end, so that no trigger allocates once as many were pending.
class continuations {
 public:
  /// `fire` runs one, and puts it back.
  continuations(void* home, void (*fire)(waiter&) noexcept) : home_(home), fire_(fire) {
    SINEW_EXPECT(fire != nullptr);
  }
  [[nodiscard]] continuation& take_call(void (*call)(void*, bool) noexcept, void* argument) {
    SINEW_EXPECT(call != nullptr);
    continuation& c = take();
    c.call = call;
    c.argument = argument;
    return c;
  }
  [[nodiscard]] continuation& take_trigger(user_event target) {
    SINEW_EXPECT(target.exists());
    continuation& c = take();
    c.call = nullptr;
    c.target = target;
    return c;
  }
  void put_back(continuation& c) noexcept {
    SINEW_EXPECT(c.home == home_);
    c.free = std::exchange(free_, &c);
  }

 private:
  [[nodiscard]] continuation& take() {
    if (free_ != nullptr) {
      return *std::exchange(free_, free_->free);
    }
    continuation& c = all_.emplace_back();
    c.home = home_;
    c.fire = fire_;
    return c;
  }

  void* home_;
  void (*fire_)(waiter&) noexcept;
  std::deque<continuation> all_;
  continuation* free_ = nullptr;
};

}  // namespace sinew::event
