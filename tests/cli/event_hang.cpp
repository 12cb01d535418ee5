// Two ranks that wait for an event which nobody triggers: rank 1 for a merge with an event of
// rank 0, which waits too. For the report of a hang (event_test.py); it ends by the launcher's
// limit. With the argument `lock`: rank 1 holds a reservation and waits for the event, rank 0 asks
// for the reservation.
#include <cstdint>
#include <string>
#include <string_view>

#include "sinew/boot/session.hpp"
#include "sinew/core/job.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/event/system.hpp"

namespace event = sinew::event;

namespace {

int hold_a_lock(sinew::core::runtime& runtime, event::system& events) {
  event::reservations locks(events);
  if (runtime.rank() == 1) {
    const event::reservation made = locks.create();
    const event::event got = locks.acquire(made);
    (void)events.wait(got);
    runtime.session().put("lock", std::to_string(made.bits()));
  }
  runtime.session().fence();
  if (runtime.rank() == 0) {
    const auto wanted = event::reservation::from_bits(
        std::stoull(runtime.session().get("lock").value_or("0")));
    (void)events.wait(locks.acquire(wanted));
  }
  (void)events.wait(events.create());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  sinew::core::runtime& runtime = sinew::core::join_job(sinew::core::threading::one);
  event::system events(runtime);
  if (argc > 1 && std::string_view(argv[1]) == "lock") {
    return hold_a_lock(runtime, events);
  }
  const event::user_event mine = events.create();
  if (runtime.rank() == 0) {
    events.name(mine, "the harvest");
    runtime.session().put("harvest", std::to_string(mine.bits()));
  }
  runtime.session().fence();
  if (runtime.rank() == 0) {
    (void)events.wait(mine);
    return 1;
  }
  const auto theirs =
      event::event::from_bits(std::stoull(runtime.session().get("harvest").value_or("0")));
  const event::user_event salt = events.create();
  const event::event bread = events.merge({theirs, salt});
  events.name(bread, "bread");
  events.trigger(salt);
  (void)events.wait(bread);
  return 1;
}
