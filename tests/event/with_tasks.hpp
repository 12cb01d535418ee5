// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are threads, with tasks on the workers of the process.
#pragma once

#include <functional>
#include <thread>

#include "sinew/event/task.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/event_job.hpp"

namespace sinew::test {

/// `further`: workers beside the two.
inline void with_tasks(int ranks, backend over,
                       const std::function<void(event_member&, event::tasks&)>& body,
                       int further = 0) {
  const fiber::scheduler workers({.workers = 2, .pin = false, .further = further});
  completion done;
  std::thread others([&] {  // the caller is a worker, and must not block
    run_events(ranks, over, core::threading::many, [&](event_member& m) {
      event::tasks all(m.events);
      m.meet();
      body(m, all);
      m.settle();
      m.until([&] { return all.pending() == 0; });
      m.settle();
    });
    done.complete();
  });
  fiber::wait(done);
  others.join();
}

}  // namespace sinew::test
