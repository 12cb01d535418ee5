// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/event/system.hpp"

#include <exception>
#include <string>

#include "event/body.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/trace.hpp"
#include "sinew/core/losses.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/coroutine.hpp"

namespace sinew::event {
namespace {

setting<std::int64_t> most_pending(
    "event", "most_pending", event::most_slots, "",
    "events of a rank that may be pending at a time (addresses are reserved, not memory)",
    {.least = 16, .most = event::most_slots});

std::uint32_t wanted_slots(const options& how) {
  const std::int64_t wanted = how.most_pending != 0 ? how.most_pending : most_pending();
  SINEW_CHECK(wanted >= 16 && wanted <= event::most_slots, "cannot make the events of this rank",
              "SINEW_EVENT_MOST_PENDING is " + std::to_string(wanted),
              "choose 16 to " + std::to_string(event::most_slots));
  return static_cast<std::uint32_t>(wanted);
}

/// A call of system::wait() that has not returned.
struct blocked_wait : waiter {
  completion done;
};

[[noreturn]] void refuse_trigger(event e) {
  throw error("cannot trigger an event",
              !e.exists() ? "it is none"
                          : "it has triggered, or is a merge, or was given a precondition before",
              "trigger each user event once");
}

}  // namespace

system::body::body(system& s, const options& how)
    : self(s),
      threaded(s.runtime_.threaded()),
      lists(wanted_slots(how)),
      events(s.rank_, {wanted_slots(how), how.last_generation}, lists, s.any_poisoned_),
      peers(s.rank_, s.size_, lists),
      messages(s.runtime_),
      remote(messages, s.rank_, s.size_, &body::on_message, this),
      callbacks(this, &body::run_continuation) {
  messages.set_handler(topic::hang, &body::on_hang_message, this);
  s.runtime_.add_diagnosis(&body::print_report, this);
}

system::body::~body() { self.runtime_.drop_diagnosis(this); }

system::system(core::runtime& runtime, const options& how)
    : runtime_(runtime), rank_(runtime.rank()), size_(runtime.size()) {
  SINEW_CHECK(size_ <= 1 << 16, "cannot make events", "the job has more than 65536 ranks",
              "start fewer");
  body_ = std::make_unique<body>(*this, how);
  slots_ = body_->events.slots();
  barriers_ = std::make_unique<barriers>(*this);
  SINEW_ENSURE(slots_ != nullptr);
  core::losses::of(runtime).listen(
      core::loss_listener::events,
      [](void* self, job_rank dead) {
        auto& all = *static_cast<system*>(self);
        if (dead.below(all.size_)) {
          all.lost(dead);
        }
      },
      this);
  served_ = runtime.begin_service(core::service::requests);
}

system::~system() {
  runtime_.outlast_rounds();  // the handler that has triggered the last event may still be at work
  core::losses::of(runtime_).stop_listening(core::loss_listener::events);
  if (served_) {
    runtime_.end_service();
  }
}

user_event system::create() {
  const section s(*body_);
  return user_event(body_->events.create());
}

event system::merge(std::span<const event> of) {
  section s(*body_);
  const event made = body_->events.merge(of, *body_);
  s.work();
  return made;
}

event system::settled(std::span<const event> of) {
  section s(*body_);
  const event made = body_->events.settled(of, *body_);
  s.work();
  return made;
}

void system::give_trigger(event e, bool bad, event after) {
  section s(*body_);
  graph& events = body_->events;
  std::uint32_t input = 0;
  if (after.exists()) {
    const graph::place f = body_->find(after);
    input = f.slot;
    bad = bad || f.known == state::poisoned;
  }
  if (e.owner() != rank_) {
    if (input == 0) {
      body_->trigger_remote(user_event(e), bad);
    } else {
      events.subscribe(input, body_->callbacks.take_trigger(user_event(e)));
    }
    s.work();
    return;
  }
  const graph::place f = e.exists() ? events.find(e) : graph::place{0, state::triggered};
  if (f.known == state::poisoned && events.forgive(e)) {
    return;
  }
  if (f.known != state::pending || !events.awaits_program(f.slot)) {
    refuse_trigger(e);
  }
  if (input == 0) {
    events.trigger(f.slot, bad);
    s.work();
  } else {
    events.trigger_after(f.slot, input);
  }
}

bool system::body::cancel_here(event e) {
  const graph::place f = find(e);
  if (f.known != state::pending) {
    return false;
  }
  events.cancel(f.slot);
  return true;
}

state system::look_closely(event e) {
  section s(*body_);
  return body_->find(e).known;
}

state system::subscribe(event e, waiter& w) {
  if (!e.exists()) {
    return state::triggered;
  }
  const section s(*body_);
  const graph::place f = body_->find(e);
  if (f.known == state::pending) {
    body_->events.subscribe(f.slot, w);
  }
  return f.known;
}

bool system::unsubscribe(event e, waiter& w) {
  if (!e.exists()) {
    return false;
  }
  const section s(*body_);
  const graph::place f = body_->find(e);
  return f.known == state::pending && body_->events.unsubscribe(f.slot, w);
}

state system::wait_for(event e) {
  SINEW_CHECK(!body_->firing_here(), "cannot wait for an event here",
              "this is a callback or coroutine that an event has just started",
              "await the event in a coroutine, or wait in a fiber");
  blocked_wait me;
  me.fire = [](waiter& w) noexcept { static_cast<blocked_wait&>(w).done.complete(); };
  const state now = subscribe(e, me);
  if (now != state::pending) {
    return now;
  }
  const std::int64_t began = trace::begin();
  runtime_.wait(me.done);
  trace::span(trace::kind::event, "wait", began, e.bits());
  return me.poisoned ? state::poisoned : state::triggered;
}

void system::on(event e, void (*call)(void*, bool) noexcept, void* argument) {
  SINEW_EXPECT(call != nullptr);
  state now = state::triggered;
  if (e.exists()) {
    const section s(*body_);
    const graph::place f = body_->find(e);
    now = f.known;
    if (now == state::pending) {
      body_->events.subscribe(f.slot, body_->callbacks.take_call(call, argument));
    }
  }
  if (now != state::pending) {
    call(argument, now == state::poisoned);
  }
}

void system::set_handler(topic t, message_handler function, void* context) {
  const core::without_helper still(runtime_);
  body_->messages.set_handler(t, function, context);
}

void system::send(job_rank peer, topic t, std::uint64_t small, std::uint64_t word, const void* data,
                  std::size_t bytes) {
  body_->messages.send(peer, t, small, word, data, bytes);
}

void detail::log_failed_activity() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    log_line(log_level::error, std::string("an activity has failed: ") + e.what());
  } catch (...) {
    log_line(log_level::error, "an activity has failed by what is no std::exception");
  }
}

std::size_t system::largest_message() const noexcept {
  return runtime_.endpoint().bounds().max_medium;
}

std::size_t system::pending() const noexcept {
  const section s(*body_);
  return body_->events.pending();
}

std::size_t system::slots() const noexcept {
  const section s(*body_);
  return body_->events.used();
}

}  // namespace sinew::event
