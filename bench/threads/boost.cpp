// SPDX-License-Identifier: BSD-3-Clause
// Boost.Fiber with its default scheduler (round robin, one per thread); the bare switch is
// Boost.Context's. A signal is what its users would write: a flag, a mutex, a condition variable.
#include <boost/context/fiber.hpp>
#include <boost/fiber/all.hpp>
#include <boost/version.hpp>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "threads_bench.hpp"

namespace {

namespace fibers = boost::fibers;

struct gate {
  fibers::mutex mutex;
  fibers::condition_variable changed;
  bool open = false;

  void set() {
    {
      const std::lock_guard<fibers::mutex> held(mutex);
      open = true;
    }
    changed.notify_one();
  }
  void await() {
    std::unique_lock<fibers::mutex> held(mutex);
    changed.wait(held, [this] { return open; });
    open = false;
  }
};

struct boosted {
  static constexpr int most = 1 << 20;

  static double bare_switch(double budget_ms) {
    namespace context = boost::context;
    context::fiber other([](context::fiber&& back) {
      for (;;) {
        back = std::move(back).resume();
      }
      return std::move(back);
    });
    return micro::repeat(budget_ms, [&other] {
      constexpr int pairs = 2000;
      const double begin = micro::now_ns();
      for (int i = 0; i < pairs; ++i) {
        other = std::move(other).resume();
      }
      return (micro::now_ns() - begin) / (2 * pairs);
    });
  }

  static double yield(int n, int each) {
    std::vector<fibers::fiber> all;
    const double begin = micro::now_ns();
    for (int i = 0; i < n; ++i) {
      all.emplace_back([each] {
        for (int y = 0; y < each; ++y) {
          boost::this_fiber::yield();
        }
      });
    }
    for (fibers::fiber& one : all) {
      one.join();
    }
    return (micro::now_ns() - begin) / n / each;
  }

  static double signal(int n, double budget_ms) {
    return micro::signal_by_gates<gate>(n, budget_ms, 50, [n](auto body) {
      std::vector<std::thread> worker;
      worker.emplace_back([n, body] {
        micro::pin(1);
        std::vector<fibers::fiber> all;
        for (int i = 0; i < n; ++i) {
          all.emplace_back([&body, i] { body(i); });
        }
        for (fibers::fiber& one : all) {
          one.join();
        }
      });
      return worker;
    });
  }

  static double round_trip(double budget_ms) {
    return micro::round_trip_by_gates<gate>(budget_ms,
                                            [](auto body) { fibers::fiber(body).join(); });
  }

  static double spawn_join(double budget_ms) {
    return micro::repeat(budget_ms, [] {
      constexpr int many = 500;
      const double begin = micro::now_ns();
      for (int i = 0; i < many; ++i) {
        fibers::fiber([] {}).join();
      }
      return (micro::now_ns() - begin) / many;
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  std::printf("@version %s\n", BOOST_LIB_VERSION);
  return micro::threads_main<boosted>(argc, argv);
}
