// SPDX-License-Identifier: BSD-3-Clause
// Coroutines that await events: the waiter lies in the coroutine's frame, so waiting allocates
// nothing, takes no stack and no switch of fibers.
#pragma once

#include <coroutine>
#include <utility>

#include "sinew/event/system.hpp"

namespace sinew::event {

namespace detail {
/// Says on stderr what exception has just left an activity.
void log_failed_activity() noexcept;
}  // namespace detail

/// `co_await until(s, e)` continues when `e` has triggered and says how: at once if it has, else
/// where it triggers (see waiter: the coroutine must not block there). Hot.
class until final : public waiter {
 public:
  until(system& s, event e) noexcept : system_(s), event_(e) {}
  [[nodiscard]] bool await_ready() noexcept {
    return !event_.exists() && (seen_ = state::triggered, true);
  }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> frame) {
    frame_ = frame;
    fire = [](waiter& w) noexcept {
      auto& self = static_cast<until&>(w);
      self.seen_ = self.poisoned ? state::poisoned : state::triggered;
      self.frame_.resume();
    };
    // Once subscribed the frame may be gone at any time: nothing of it is touched unless it stays.
    const state now = system_.subscribe(event_, *this);
    if (now == state::pending) {
      return true;
    }
    seen_ = now;
    return false;
  }
  [[nodiscard]] state await_resume() const noexcept { return seen_; }

 private:
  system& system_;
  event event_;
  std::coroutine_handle<> frame_;
  state seen_ = state::pending;
};

/// A coroutine that starts at once and whose end is an event: `activity f(system& s, ...)`. The
/// first parameter (after the object of a member or lambda) is the system. An exception that leaves
/// it (it is reported on stderr), or `co_return false`, poisons done(). The frame frees itself.
class activity {
 public:
  struct promise_type {
    template <class... More>
    explicit promise_type(system& s, More&...) : system_(s), done_(s.create()) {}
    template <class Object, class... More>
    promise_type(Object&, system& s, More&...) : promise_type(s) {}

    activity get_return_object() noexcept { return activity(done_); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept {
      if (well_) {
        system_.trigger(done_);
      } else {
        system_.poison(done_);
      }
      return {};
    }
    void return_value(bool well) noexcept { well_ = well; }
    void unhandled_exception() noexcept {
      detail::log_failed_activity();
      well_ = false;
    }

   private:
    system& system_;
    user_event done_;
    bool well_ = true;
  };

  [[nodiscard]] event done() const noexcept { return done_; }

 private:
  explicit activity(event done) noexcept : done_(done) {}
  event done_;
};

}  // namespace sinew::event
