// SPDX-License-Identifier: BSD-3-Clause
// Argobots: the default scheduler, a stream for each worker. A signal is what its users would
// write, as in the original: a flag, a mutex, a condition variable.
#include "../common/argobots.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "threads_bench.hpp"

namespace {

using micro::good;
using micro::own_pool;

ABT_thread spawned(ABT_pool where, void (*entry)(void*), void* argument) {
  ABT_thread made{};
  good(ABT_thread_create(where, entry, argument, ABT_THREAD_ATTR_NULL, &made));
  return made;
}

/// A second worker, on another processor.
class second_stream {
 public:
  second_stream() {
    good(ABT_xstream_create(ABT_SCHED_NULL, &stream_));
    ABT_thread pinning = spawned(pool(), [](void*) { micro::pin(1); }, nullptr);
    good(ABT_thread_free(&pinning));
    micro::pin(0);
  }
  ~second_stream() {
    good(ABT_xstream_join(stream_));
    good(ABT_xstream_free(&stream_));
  }
  second_stream(const second_stream&) = delete;
  second_stream& operator=(const second_stream&) = delete;
  [[nodiscard]] ABT_pool pool() const { return micro::pool_of(stream_); }

 private:
  ABT_xstream stream_{};
};

struct argobots {
  static constexpr int most = 1 << 20;

  static double bare_switch(double /*budget_ms*/) { return 0; }

  static double yield(int n, int each) {
    std::vector<ABT_thread> all;
    const double begin = micro::now_ns();
    for (int i = 0; i < n; ++i) {
      all.push_back(spawned(
          own_pool(),
          [](void* times) {
            for (int y = *static_cast<int*>(times); y > 0; --y) {
              good(ABT_thread_yield());
            }
          },
          &each));
    }
    for (ABT_thread& one : all) {
      good(ABT_thread_free(&one));
    }
    return (micro::now_ns() - begin) / n / each;
  }

  struct waiter {
    micro::abt_gate gate;
    std::atomic<int>* woken = nullptr;
    std::atomic<bool>* end = nullptr;
  };

  static double signal(int n, double budget_ms) {
    const second_stream other;
    std::atomic<int> woken{0};
    std::atomic<bool> end{false};
    const std::unique_ptr<waiter[]> all(new waiter[static_cast<std::size_t>(n)]);
    std::vector<ABT_thread> running;
    const auto all_blocked = [&] {
      while (woken.load() < n) {
        std::this_thread::yield();
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    };
    const auto set_all = [&] {
      for (int i = 0; i < n; ++i) {
        all[static_cast<std::size_t>(i)].gate.open_for_one();
      }
    };
    for (int i = 0; i < n; ++i) {
      waiter& w = all[static_cast<std::size_t>(i)];
      w.woken = &woken;
      w.end = &end;
      running.push_back(spawned(
          other.pool(),
          [](void* argument) {
            auto& mine = *static_cast<waiter*>(argument);
            mine.woken->fetch_add(1);
            while (!mine.end->load()) {
              mine.gate.pass_and_shut();
              mine.woken->fetch_add(1);
            }
          },
          &w));
    }
    all_blocked();
    const double result = micro::repeat(budget_ms, [&] {
      woken = 0;
      const double begin = micro::now_ns();
      set_all();
      const double ns = (micro::now_ns() - begin) / n;
      all_blocked();
      return ns;
    });
    end = true;
    set_all();
    for (ABT_thread& one : running) {
      good(ABT_thread_free(&one));
    }
    return result;
  }

  struct ball {
    micro::abt_gate there, back;
    std::atomic<bool> end{false};
  };

  static double round_trip(double budget_ms) {
    constexpr int trips = 500;
    const second_stream other;
    ball b;
    ABT_thread player = spawned(
        other.pool(),
        [](void* argument) {
          auto& with = *static_cast<ball*>(argument);
          for (with.there.pass_and_shut(); !with.end.load(); with.there.pass_and_shut()) {
            with.back.open_for_one();
          }
        },
        &b);
    const double result = micro::repeat(budget_ms, [&b] {
      const double begin = micro::now_ns();
      for (int i = 0; i < trips; ++i) {
        b.there.open_for_one();
        b.back.pass_and_shut();
      }
      return (micro::now_ns() - begin) / trips;
    });
    b.end = true;
    b.there.open_for_one();
    good(ABT_thread_free(&player));
    return result;
  }

  static double spawn_join(double budget_ms) {
    return micro::repeat(budget_ms, [] {
      constexpr int many = 500;
      const ABT_pool pool = own_pool();
      const double begin = micro::now_ns();
      for (int i = 0; i < many; ++i) {
        ABT_thread one = spawned(pool, [](void*) {}, nullptr);
        good(ABT_thread_free(&one));
      }
      return (micro::now_ns() - begin) / many;
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  return micro::over_argobots([&] { return micro::threads_main<argobots>(argc, argv); });
}
