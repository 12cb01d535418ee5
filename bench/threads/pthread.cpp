// SPDX-License-Identifier: BSD-3-Clause
// POSIX threads. A "worker" is a processor: threads of one worker are pinned to the same one.
#include <thread>
#include <vector>

#include "threads_bench.hpp"

namespace {

/// The usual way to wait for a flag.
struct gate {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  bool open = false;

  void set() {
    pthread_mutex_lock(&mutex);
    open = true;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&changed);
  }
  void await() {
    pthread_mutex_lock(&mutex);
    while (!open) {
      pthread_cond_wait(&changed, &mutex);
    }
    open = false;
    pthread_mutex_unlock(&mutex);
  }
};

struct posix {
  static constexpr int most = 64;

  static double bare_switch(double /*budget_ms*/) { return 0; }

  static double yield(int n, int each) {
    std::vector<std::thread> all;
    const double begin = micro::now_ns();
    for (int i = 0; i < n; ++i) {
      all.emplace_back([each] {
        micro::pin(0);
        for (int y = 0; y < each; ++y) {
          sched_yield();
        }
      });
    }
    for (std::thread& one : all) {
      one.join();
    }
    return (micro::now_ns() - begin) / n / each;
  }

  static double signal(int n, double budget_ms) {
    return micro::signal_by_gates<gate>(n, budget_ms, 200, [n](auto body) {
      std::vector<std::thread> all;
      for (int i = 0; i < n; ++i) {
        all.emplace_back([body, i] {
          micro::pin(1);
          body(i);
        });
      }
      return all;
    });
  }

  static double round_trip(double budget_ms) {
    return micro::round_trip_by_gates<gate>(budget_ms, [](auto body) { body(); });
  }

  static double spawn_join(double budget_ms) {
    return micro::repeat(budget_ms, [] {
      constexpr int many = 50;
      const double begin = micro::now_ns();
      for (int i = 0; i < many; ++i) {
        std::thread([] {}).join();
      }
      return (micro::now_ns() - begin) / many;
    });
  }
};

}  // namespace

int main(int argc, char** argv) { return micro::threads_main<posix>(argc, argv); }
