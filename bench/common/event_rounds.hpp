// Rounds of an experiment with events: each builds a graph on all ranks, then rank 0 triggers its
// beginning and waits for its end.
#ifndef SINEW_BENCH_EVENT_ROUNDS_HPP
#define SINEW_BENCH_EVENT_ROUNDS_HPP

#include <utility>
#include <vector>

#include "ranks.hpp"
#include "sinew/event/system.hpp"

namespace micro {

struct round_times {
  double build_ns = 0;
  double trigger_ns = 0;  ///< on rank 0
};

/// `begin()` is the event that starts the graph and `end()` the one to wait for; both are asked for
/// on rank 0, when all ranks have built theirs.
template <class Begin, class End>
double trigger_and_wait(sinew::event::system& events, meeting& meet, Begin begin, End end) {
  sinew::event::event last;
  if (events.rank() == 0) {
    last = end();
    (void)events.look(last);  // asks for it
  }
  for (int i = 0; i < 4; ++i) {
    meet(events.runtime());
    while (events.runtime().poll() != 0) {
    }
  }
  double took = 0;
  if (events.rank() == 0) {
    const double start = now_ns();
    events.trigger(sinew::event::user_event(begin()));
    (void)events.wait(last);
    took = now_ns() - start;
  }
  meet(events.runtime());
  return took;
}

/// Calls one_round(events, meet) as each of `ranks` for `budget_ms`, then report(build_ns,
/// trigger_ns) with the medians of rank 0. The first round touches new pages and does not count.
template <class Round, class Report>
void event_rounds(int ranks, double budget_ms, Round one_round, Report report) {
  shared_memory stop(4096);
  auto* const go_on = new (stop.as<void>()) std::atomic<int>(1);
  run_ranks(ranks, [&](sinew::core::runtime& runtime, meeting& meet) {
    sinew::event::system events(runtime);
    std::vector<double> build;
    std::vector<double> trigger;
    const double end = now_ns() + budget_ms * 1e6;
    meet(runtime);
    for (int round = 0; go_on->load() != 0; ++round) {
      const round_times one = one_round(events, meet);
      if (round > 0) {
        build.push_back(one.build_ns);
        trigger.push_back(one.trigger_ns);
      }
      if (events.rank() == 0 && build.size() >= 3 && now_ns() > end) {
        go_on->store(0);
      }
      meet(runtime);
    }
    if (events.rank() == 0) {
      report(median(build), median(trigger));
    }
  });
}

}  // namespace micro

#endif
