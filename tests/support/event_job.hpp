// SPDX-License-Identifier: BSD-3-Clause
// A job of the event module inside one process: one thread per rank, over a back-end of choice.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "support/event_member.hpp"

namespace sinew::test {

using event_body = std::function<void(event_member&)>;

/// Runs `body` as each rank; all make progress until the last has returned.
inline void run_events(int ranks, backend over, core::threading threads, const event_body& body,
                       const event::options& how = {1u << 20, event::event::last_generation},
                       core::progress progress = core::progress::waiters) {
  const shared_memory common(sizeof(meeting_place));
  auto& place = common.as<meeting_place>();
  if (launched()) {
    if (is_launched_job(ranks)) {
      event::system events(launched_runtime(), how);
      event_member m{launched_runtime(), events, place, launched_runtime().rank().value(), ranks};
      m.meet();
      body(m);
      m.settle();
    }
    return;
  }
  endpoints made(ranks, over, threads == core::threading::many);
  std::vector<std::unique_ptr<core::runtime>> runtimes;
  std::vector<std::unique_ptr<event::system>> systems;
  for (int r = 0; r < ranks; ++r) {
    runtimes.push_back(core::runtime::over(std::make_unique<fake_session>(r, ranks), made.take(r),
                                           threads, progress));
    systems.push_back(std::make_unique<event::system>(*runtimes.back(), how));
  }
  std::vector<std::thread> all;
  for (int r = 0; r < ranks; ++r) {
    all.emplace_back([&, r] {
      const auto at = static_cast<std::size_t>(r);
      event_member m{*runtimes[at], *systems[at], place, r, ranks};
      body(m);
      m.settle();
    });
  }
  for (auto& t : all) {
    t.join();
  }
  systems.clear();
}

}  // namespace sinew::test
