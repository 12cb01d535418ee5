// SPDX-License-Identifier: BSD-3-Clause
// Works off what a call has triggered: cascades of the graph, notices to other ranks, waiters.
//
// Waiters are fired when the queue is empty and messages are sent, without the lock. What a waiter
// triggers goes to the same queue, and drain() further up the stack works it off, so a chain of
// waiters takes no stack.
#include "event/body.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/log.hpp"

namespace sinew::event {
namespace {

/// Whose waiters this thread fires right now.
thread_local const void* firing = nullptr;

}  // namespace

bool system::body::firing_here() const noexcept { return firing == this; }
bool system::is_firing() const noexcept { return body_->firing_here(); }

void system::body::drain() {
  if (firing_here()) {
    return;
  }
  for (;;) {
    while (events.has_queue()) {
      events.pass();
      for (const graph::notice& n : events.take_notices()) {
        peers.notify(n, remote);
      }
      if (threaded && events.has_queue()) {
        release();  // lets other threads in
        acquire();
      }
    }
    if (peers.has_gathered()) {
      peers.flush(remote);
    }
    waiter* const last = events.take_ready();
    if (last == nullptr) {
      return;
    }
    release();
    fire(last);
    acquire();
  }
}

void system::body::fire(waiter* last) noexcept {
  SINEW_EXPECT(last != nullptr && !firing_here());
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
  SINEW_ENSURE(firing_here());
  firing = before;
}

void system::body::run_continuation(waiter& w) noexcept {
  auto& c = static_cast<continuation&>(w);
  auto& home = *static_cast<body*>(c.home);
  const continuation copy = c;
  {
    const section s(home);
    home.callbacks.put_back(c);
  }
  if (copy.call != nullptr) {
    copy.call(copy.argument, copy.poisoned);
    return;
  }
  try {
    home.self.give_trigger(copy.target, copy.poisoned, {});
  } catch (const error& failure) {
    log_line(log_level::error, failure.what());
  }
}

void system::later(waiter& w) {
  section s(*body_);
  body_->events.add_ready(w);
  s.work();
}

together::together(system& s) noexcept
    : system_(s), before_(std::exchange(firing, s.body_.get())) {}

together::~together() {
  SINEW_EXPECT(firing == system_.body_.get());
  firing = before_;
  section s(*system_.body_);
  s.work();
}

}  // namespace sinew::event
