// SPDX-License-Identifier: BSD-3-Clause
// Programs of events that do not end well, for what the rank says then (event_test.py).
//   (nothing)   two ranks wait for an event which nobody triggers: rank 1 for a merge with an event
//               of rank 0, which waits too; ends by the launcher's limit
//   task        the program ends, but for a task whose event never triggers; the same
//   start       rank 0 names its tasks, rank 1 never does; the same
//   lock        rank 1 holds a reservation and waits, rank 0 asks for the reservation; the same
//   fence       rank 0 waits at a fence to which rank 1 does not come; the same
//   throw       an error of the event system that main() does not catch, on rank 1
//   fire        the same out of a callback that an event fires
//   fiber       the same out of a fiber of the program's own
//   activity    the same out of a coroutine, whose event fails; ends with 0
#include <cstdint>
#include <string>
#include <string_view>

#include "sinew/boot/session.hpp"
#include "sinew/core/job.hpp"
#include "sinew/event/coroutine.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/event/system.hpp"
#include "sinew/event/task.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace {

namespace event = sinew::event;

void open_the_door(int) {}

void hold_a_lock(sinew::core::runtime& runtime, event::system& events) {
  event::reservations locks(events);
  if (runtime.rank() == 1) {
    const event::reservation made = locks.create();
    const event::event got = locks.acquire(made);
    (void)events.wait(got);
    runtime.session().put("lock", std::to_string(made.bits()));
  }
  runtime.session().fence();
  if (runtime.rank() == 0) {
    const auto wanted =
        event::reservation::from_bits(std::stoull(runtime.session().get("lock").value_or("0")));
    (void)events.wait(locks.acquire(wanted));
  }
  (void)events.wait(events.create());
}

void hang(sinew::core::runtime& runtime, event::system& events) {
  const event::user_event mine = events.create();
  if (runtime.rank() == 0) {
    events.name(mine, "the harvest");
    runtime.session().put("harvest", std::to_string(mine.bits()));
  }
  runtime.session().fence();
  if (runtime.rank() == 0) {
    (void)events.wait(mine);
    return;
  }
  const auto theirs =
      event::event::from_bits(std::stoull(runtime.session().get("harvest").value_or("0")));
  const event::user_event salt = events.create();
  const event::event bread = events.merge({theirs, salt});
  events.name(bread, "bread");
  events.trigger(salt);
  (void)events.wait(bread);
}

void hang_with_tasks(sinew::core::runtime& runtime, event::system& events, bool all_start) {
  const sinew::fiber::scheduler workers({.workers = 1});
  event::tasks all(events);
  runtime.session().fence();
  all.add<&open_the_door>("open the door");
  if (!all_start && runtime.rank() != 0) {
    (void)events.wait(events.create());
  }
  all.start();
  const event::user_event key = events.create();
  events.name(key, "the key");
  (void)all.spawn<&open_the_door>(all.at(runtime.rank()), {.after = key}, 1);
}

/// Throws sinew::error.
void trigger_twice(event::system& events) {
  const event::user_event once = events.create();
  events.trigger(once);
  events.trigger(once);
}

event::activity fail(event::system& events) {
  trigger_twice(events);
  co_return true;
}

void end_by_an_error(event::system& events, std::string_view how) {
  if (how == "throw") {
    trigger_twice(events);
  } else if (how == "fire") {
    const event::user_event soon = events.create();
    events.on(
        soon, [](void* of, bool) noexcept { trigger_twice(*static_cast<event::system*>(of)); },
        &events);
    events.trigger(soon);
  } else {
    const sinew::fiber::scheduler workers({.workers = 1});
    sinew::fiber::fiber* made = nullptr;
    (void)sinew::fiber::spawn([](void* of) { trigger_twice(*static_cast<event::system*>(of)); },
                              &events, &made);
    sinew::fiber::join(*made);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::string_view how = count > 1 ? words[1] : "";
  sinew::core::runtime& runtime = sinew::core::join_job(sinew::core::threading::one);
  event::system events(runtime);
  if (how.empty()) {
    hang(runtime, events);
  } else if (how == "lock") {
    hold_a_lock(runtime, events);
  } else if (how == "task" || how == "start") {
    hang_with_tasks(runtime, events, how == "task");
  } else if (how == "fence") {
    if (runtime.rank() == 1) {
      (void)events.wait(events.create());
    }
    runtime.session().fence();
  } else if (how == "activity") {
    const bool failed = events.wait(fail(events).done()) == event::state::poisoned;
    sinew::core::leave_job();
    return failed ? 0 : 1;
  } else {
    if (runtime.rank() == 1) {
      end_by_an_error(events, how);
    }
    runtime.session().fence();
  }
  return 1;
}
