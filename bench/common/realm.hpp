// SPDX-License-Identifier: BSD-3-Clause
// What the programs over Realm share. `sinew bench` compiles them where CMake knows its package;
// all measure one process, for over several Realm needs a network that it was built with.
#ifndef SINEW_BENCH_REALM_HPP
#define SINEW_BENCH_REALM_HPP

#include <realm.h>

#include <algorithm>

#include "micro.hpp"

namespace micro {

/// How long a graph took to build, and to run once its beginning was triggered.
struct realm_times {
  double build_ns = 0;
  double run_ns = 0;
};

/// The medians of rounds, at least `least`. The first touches new pages and does not count.
template <class Round>
realm_times realm_rounds(double budget_ms, Round one_round, std::size_t least = 3) {
  std::vector<double> build;
  std::vector<double> run;
  (void)one_round();
  const double end = now_ns() + budget_ms * 1e6;
  while (build.size() < least || now_ns() < end) {
    const realm_times t = one_round();
    build.push_back(t.build_ns);
    run.push_back(t.run_ns);
  }
  return {median(build), median(run)};
}

/// Triggers `start` and waits for `last`.
inline double realm_run(Realm::UserEvent start, Realm::Event last) {
  const double begin = now_ns();
  start.trigger();
  last.external_wait();
  return now_ns() - begin;
}

/// Realm's life around measure(runtime), if rows of one rank are asked for: it measures no others.
/// It takes words of its own, so ours are read before.
template <class Measure>
int over_realm(int argc, char** argv, Measure measure) {
  const auto ranks = numbers(argc, argv, "ranks", {1});
  if (std::find(ranks.begin(), ranks.end(), 1) == ranks.end()) {
    return 0;
  }
  Realm::Runtime runtime;
  if (!runtime.init(&argc, &argv)) {
    wrong("Realm does not start");
  }
  measure(runtime);
  runtime.shutdown();
  return runtime.wait_for_shutdown();
}

}  // namespace micro

#endif
