// SPDX-License-Identifier: BSD-3-Clause
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
double trigger_and_wait(const rank_place& at, Begin begin, End end) {
  sinew::event::event last;
  if (at.rank == 0) {
    last = end();
    (void)at.events.look(last);  // asks for it
  }
  for (int i = 0; i < 4; ++i) {
    at.meet();
    while (at.runtime.poll() != 0) {
    }
  }
  double took = 0;
  if (at.rank == 0) {
    const double start = now_ns();
    at.events.trigger(sinew::event::user_event(begin()));
    (void)at.events.wait(last);
    took = now_ns() - start;
  }
  at.meet();
  return took;
}

/// Calls one_round(rank_place) on each of `ranks` for `budget_ms`, then report(build_ns,
/// trigger_ns, line_ns) with the medians of rank 0; the trip of a line is measured before each. The
/// first round touches new pages and does not count. False if a rank failed.
template <class Round, class Report>
bool event_rounds(rank_source& from, int ranks, double budget_ms, Round one_round, Report report) {
  return from.run(ranks, {}, [&](const rank_place& at) {
    constexpr std::size_t go_on = meeting::most_words - 1;
    std::vector<double> build;
    std::vector<double> trigger;
    std::vector<double> line;
    const double end = now_ns() + budget_ms * 1e6;
    bool first = true;
    do {
      const double trip = at.meet.line_trip();
      const round_times one = one_round(at);
      if (!first) {
        line.push_back(trip);
        build.push_back(one.build_ns);
        trigger.push_back(one.trigger_ns);
      }
      first = false;
      if (at.rank == 0) {
        at.meet[go_on] = build.size() < 3 || now_ns() < end ? 1 : 0;
        at.meet.share(go_on);
      }
      at.meet();
    } while (at.meet[go_on] != 0);
    if (at.rank == 0) {
      report(median(build), median(trigger), median(line));
    }
    at.meet();  // it is not set anew before all have seen it
  });
}

}  // namespace micro

#endif
