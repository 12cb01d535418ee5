// SPDX-License-Identifier: BSD-3-Clause
// How user-level threads are measured; each subject brings a class of static functions, all of
// which return nanoseconds for one operation:
//   yield(n, each)   n threads of one worker yield `each` times in turn: total time / (n * each),
//                    from before the first is spawned until the last is joined (Dang et al. 2016's
//                    way).
//   signal(n, ms)    n threads of another worker are blocked; the caller's time to make one of them
//                    ready, as in the seed: this is not the time until it runs.
//   round_trip(ms)   two threads of two workers wake each other in turn; both ways.
//   spawn_join(ms)   one thread after another.
//   bare_switch(ms)  one switch between two contexts, no scheduler; 0: there is no such thing.
#ifndef SINEW_BENCH_THREADS_BENCH_HPP
#define SINEW_BENCH_THREADS_BENCH_HPP

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../common/micro.hpp"

namespace micro {

inline void report_fibers(const char* name, int n, double ns) {
  if (ns > 0) {
    report(name, "fibers=" + std::to_string(n), ns);
  }
}

/// Calls batch() (which returns ns for one operation) until the budget is spent.
template <class Batch>
double repeat(double budget_ms, Batch&& batch) {
  std::vector<double> samples;
  const double end = now_ns() + budget_ms * 1e6;
  while (samples.size() < 5 || now_ns() < end) {
    samples.push_back(batch());
  }
  return median(samples);
}

/// What most users write to wait for a flag, with the mutex and condition variable of a subject:
/// void set(), void await() (which closes it again).
///
/// signal() with n of them; run(body) starts a thread that calls body, `settle_us` is how long the
/// last woken needs to wait again.
template <class Gate, class Run>
double signal_by_gates(int n, double budget_ms, int settle_us, Run&& run) {
  const std::unique_ptr<Gate[]> gates(new Gate[static_cast<std::size_t>(n)]);
  std::atomic<int> woken{0};
  std::atomic<bool> end{false};
  const auto all_blocked = [&] {
    while (woken.load() < n) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(settle_us));
  };
  const auto set_all = [&] {
    for (int i = 0; i < n; ++i) {
      gates[static_cast<std::size_t>(i)].set();
    }
  };
  std::vector<std::thread> others = run([&](int i) {
    woken.fetch_add(1);
    while (!end.load()) {
      gates[static_cast<std::size_t>(i)].await();
      woken.fetch_add(1);
    }
  });
  pin(0);
  all_blocked();
  const double result = repeat(budget_ms, [&] {
    woken = 0;
    const double begin = now_ns();
    set_all();
    const double ns = (now_ns() - begin) / n;
    all_blocked();
    return ns;
  });
  end = true;
  set_all();
  for (std::thread& one : others) {
    one.join();
  }
  return result;
}

/// round_trip(); enter(body) calls body in the second thread, as one of the subject's.
template <class Gate, class Enter>
double round_trip_by_gates(double budget_ms, Enter&& enter) {
  Gate there;
  Gate back;
  std::atomic<bool> end{false};
  std::thread other([&] {
    pin(1);
    enter([&] {
      for (there.await(); !end.load(); there.await()) {
        back.set();
      }
    });
  });
  pin(0);
  const double result = repeat(budget_ms, [&] {
    constexpr int trips = 50;
    const double begin = now_ns();
    for (int i = 0; i < trips; ++i) {
      there.set();
      back.await();
    }
    return (now_ns() - begin) / trips;
  });
  end = true;
  there.set();
  other.join();
  return result;
}

template <class Subject>
int threads_main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  report_fibers("switch", 2, Subject::bare_switch(o.budget_ms));
  // The seed's 10,000 each would be half a minute of pthreads. With 500 the making of a thread, its
  // stack's first touch and its guard pages were half of what 64 fibers show for a yield.
  constexpr std::pair<int, int> crowds[] = {{2, 5000}, {64, 5000}, {1024, 2000}};
  for (const auto& [n, each] : crowds) {
    if (n > Subject::most) {
      continue;
    }
    report_fibers("yield", n, repeat(o.budget_ms, [&] { return Subject::yield(n, each); }));
  }
  report_fibers("signal", 64, Subject::signal(64, o.budget_ms));
  report_fibers("round-trip", 2, Subject::round_trip(o.budget_ms));
  report_fibers("spawn-join", 1, Subject::spawn_join(o.budget_ms));
  return 0;
}

}  // namespace micro

#endif
