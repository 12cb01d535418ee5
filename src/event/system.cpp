#include "sinew/event/system.hpp"

#include <exception>
#include <string>

#include "event/body.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/trace.hpp"
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

/// Somebody in system::wait().
struct sleeper : waiter {
  completion done;
};

}  // namespace

system::body::body(system& s, const options& how)
    : self(s),
      threaded(s.runtime_.threaded()),
      most(wanted_slots(how)),
      last_generation(how.last_generation),
      slots(most),
      chunks(most),
      out(s.runtime_),
      peers(static_cast<std::size_t>(s.size_)),
      batches(static_cast<std::size_t>(s.size_)) {
  dirty.reserve(static_cast<std::size_t>(s.size_));
  out.set_handler(topic::event, &body::on_message, this);
  out.set_handler(topic::hang, &body::on_hang_message, this);
  s.runtime_.add_diagnosis(&body::print_report, this);
}

system::body::~body() { self.runtime_.drop_diagnosis(this); }

system::system(core::runtime& runtime, const options& how)
    : runtime_(runtime), rank_(runtime.rank()), size_(runtime.size()) {
  SINEW_CHECK(size_ <= 1 << 16, "cannot make events", "the job has more than 65536 ranks",
              "start fewer");
  body_ = std::make_unique<body>(*this, how);
  slots_ = body_->slots.data();
  barriers_ = std::make_unique<barriers>(*this);
}

system::~system() = default;

user_event system::create() {
  const section s(*body_);
  return user_event(body_->handle_of(body_->take_slot()));
}

event system::merge(std::span<const event> of) {
  section s(*body_);
  const event made = body_->merge(of);
  s.work();
  return made;
}

event system::settled(std::span<const event> of) {
  section s(*body_);
  const event made = body_->combine(of, body::tolerant);
  s.work();
  return made;
}

void system::give_trigger(event e, bool bad, event after) {
  section s(*body_);
  std::uint32_t input = 0;
  if (after.exists()) {
    const body::found f = body_->find(after);
    input = f.slot;
    bad = bad || f.known == state::poisoned;
  }
  if (e.owner() != rank_) {
    if (input == 0) {
      body_->trigger_remote(user_event(e), bad);
    } else {
      continuation* const then = body_->take_continuation();
      then->call = nullptr;
      then->target = user_event(e);
      body_->append(body_->at(input), *then);
    }
    s.work();
    return;
  }
  const body::found f = e.exists() ? body_->find(e) : body::found{0, state::triggered};
  if (f.known == state::poisoned) {
    return;
  }
  if (f.known == state::triggered || (body_->at(f.slot).link & body::armed) != 0) {
    body::twice(e);
  }
  if (input == 0) {
    body_->mark(f.slot, bad);
    s.work();
  } else {
    body_->at(f.slot).link |= body::armed;
    body_->at(f.slot).remaining = 1;
    body_->depend(input, f.slot);
  }
}

void system::body::twice(event e) {
  throw error("cannot trigger an event",
              !e.exists() ? "it is none"
                          : "it has triggered, or is a merge, or was given a precondition before",
              "trigger each user event once");
}

bool system::body::cancel_here(event e) {
  const found f = find(e);
  if (f.known != state::pending) {
    return false;
  }
  if ((at(f.slot).link & armed) != 0) {
    mark_early(f.slot);
  } else {
    mark(f.slot, true);
  }
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
  const body::found f = body_->find(e);
  if (f.known == state::pending) {
    body_->append(body_->at(f.slot), w);
  }
  return f.known;
}

bool system::unsubscribe(event e, waiter& w) {
  const section s(*body_);
  const body::found f = e.exists() ? body_->find(e) : body::found{0, state::triggered};
  waiter* const last = f.known == state::pending ? body_->at(f.slot).waiters : nullptr;
  if (last == nullptr) {
    return false;
  }
  waiter* before = last;
  while (before->next != &w && before->next != last) {
    before = before->next;
  }
  if (before->next != &w) {
    return false;
  }
  before->next = w.next;
  if (last == &w) {
    body_->at(f.slot).waiters = before == &w ? nullptr : before;
  }
  return true;
}

state system::wait_for(event e) {
  SINEW_CHECK(!body_->firing_here(), "cannot wait for an event here",
              "this is a callback or coroutine that an event has just started",
              "await the event in a coroutine, or wait in a fiber");
  sleeper me;
  me.fire = [](waiter& w) noexcept { static_cast<sleeper&>(w).done.complete(); };
  const state now = subscribe(e, me);
  if (now != state::pending) {
    return now;
  }
  const std::int64_t began = trace::begin();
  runtime_.wait(me.done);
  trace::span(trace::kind::event, "wait", began, e.bits());
  return me.poisoned ? state::poisoned : state::triggered;
}

continuation* system::body::take_continuation() {
  continuation* e = free_continuation;
  if (e != nullptr) {
    free_continuation = e->free;
  } else {
    e = &continuations.emplace_back();
    e->home = this;
    e->fire = &body::run_continuation;
  }
  return e;
}

void system::body::run_continuation(waiter& w) noexcept {
  auto& e = static_cast<continuation&>(w);
  body& home = *e.home;
  const continuation copy = e;
  {
    const section s(home);
    e.free = std::exchange(home.free_continuation, &e);
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

void system::on(event e, void (*call)(void*, bool) noexcept, void* argument) {
  state now = state::triggered;
  if (e.exists()) {
    const section s(*body_);
    const body::found f = body_->find(e);
    now = f.known;
    if (now == state::pending) {
      continuation* const then = body_->take_continuation();
      then->call = call;
      then->argument = argument;
      body_->append(body_->at(f.slot), *then);
    }
  }
  if (now != state::pending) {
    call(argument, now == state::poisoned);
  }
}

void system::set_handler(topic t, message_handler function, void* context) {
  body_->out.set_handler(t, function, context);
}

void system::send(int peer, topic t, std::uint64_t small, std::uint64_t word, const void* data,
                  std::size_t bytes) {
  body_->out.send(peer, t, small, word, data, bytes);
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
  return body_->in_use;
}

std::size_t system::slots() const noexcept {
  const section s(*body_);
  return body_->used;
}

}  // namespace sinew::event
