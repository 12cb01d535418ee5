// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <memory>

#include "sinew/core/job.hpp"
#include "sinew/event/system.hpp"
#include "sinew/region/system.hpp"
#include "sinew/rma/engine.hpp"

int main() {
  using namespace sinew;
  {
    auto memory = rma::engine::open(core::join_job(core::threading::one));
    event::system events(memory->runtime());
    region::system regions(*memory, events);
    region::schema what(10);
    (void)what.add<double>("x");
    const auto made = regions.create(what, region::memory::heap(0));
    if (events.wait(made.ready) == event::state::triggered) {
      std::puts("1 instance");
    }
    memory->sync_all();
  }
  core::leave_job();
}
