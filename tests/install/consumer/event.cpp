// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "sinew/core/job.hpp"
#include "sinew/event/system.hpp"

int main() {
  using namespace sinew;
  core::runtime& runtime = core::join_job(core::threading::one);
  {
    event::system events(runtime);
    const event::user_event ready = events.create();
    events.trigger(ready);
    if (events.wait(ready) == event::state::triggered) {
      std::puts("an event has triggered");
    }
  }
  core::leave_job();
}
