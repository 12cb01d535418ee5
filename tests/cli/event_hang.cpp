// Two ranks that wait for an event which nobody triggers: rank 1 for a merge with an event of
// rank 0, which waits too. For the report of a hang (event_test.py); it ends by the launcher's
// limit.
#include <cstdint>
#include <string>

#include "sinew/boot/session.hpp"
#include "sinew/core/job.hpp"
#include "sinew/event/system.hpp"

int main() {
  namespace event = sinew::event;
  sinew::core::runtime& runtime = sinew::core::join_job(sinew::core::threading::one);
  event::system events(runtime);
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
