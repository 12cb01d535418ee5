// A job of the event room inside one process: one thread per rank, over a back-end of choice.
#pragma once

#include <sched.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "sinew/event/system.hpp"
#include "support/job.hpp"

namespace sinew::test {

struct event_member {
  core::runtime& runtime;
  event::system& events;
  int rank;
  int size;
  std::atomic<int>& arrivals;

  [[nodiscard]] int next() const { return (rank + 1) % size; }
  template <class Ready>
  void until(Ready ready) const {
    while (!ready()) {
      if (runtime.poll() == 0) {
        sched_yield();
      }
    }
  }
  /// All ranks are here; they make progress meanwhile.
  void meet() const {
    const int mine = arrivals.fetch_add(1);
    const int all = (mine / size + 1) * size;
    until([&] { return arrivals.load() >= all; });
  }
  /// Like meet(), and what was under way between ranks has arrived. Messages of handlers, too, if
  /// they were answers to answers no longer than three.
  void settle() const {
    for (int i = 0; i < 4; ++i) {
      meet();
      while (runtime.poll() != 0) {
      }
    }
  }
};

using event_body = std::function<void(event_member&)>;

/// Runs `body` as each rank; all make progress until the last has returned.
inline void run_events(int ranks, backend over, core::threading threads, const event_body& body,
                       const event::options& how = {1u << 20, event::event::last_generation}) {
  endpoints made(ranks, over, threads == core::threading::many);
  std::atomic<int> arrivals{0};
  std::vector<std::unique_ptr<core::runtime>> runtimes;
  std::vector<std::unique_ptr<event::system>> systems;
  for (int r = 0; r < ranks; ++r) {
    runtimes.push_back(std::make_unique<core::runtime>(std::make_unique<fake_session>(r, ranks),
                                                       made.take(r), threads));
    systems.push_back(std::make_unique<event::system>(*runtimes.back(), how));
  }
  std::vector<std::thread> all;
  for (int r = 0; r < ranks; ++r) {
    all.emplace_back([&, r] {
      const auto at = static_cast<std::size_t>(r);
      event_member m{*runtimes[at], *systems[at], r, ranks, arrivals};
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
