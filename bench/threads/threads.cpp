// SPDX-License-Identifier: BSD-3-Clause
// Sinew's fibers; or, with the word "floor", what bounds them: the bare switch, and a cache line's
// way to another processor and back.
#include <atomic>
#include <utility>
#include <vector>

#include "fiber/switch.hpp"
#include "sinew/base/spin.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "threads_bench.hpp"

namespace {

namespace fiber = sinew::fiber;

// ---- two contexts and nothing else --------------------------------------------------------------

struct two_contexts {
  void* here = nullptr;
  void* there = nullptr;
  alignas(64) unsigned char stack[16384];

  static void bounce(void* self) {
    auto& c = *static_cast<two_contexts*>(self);
    for (;;) {
      sinew_fiber_switch(&c.there, c.here);
    }
  }
};

double measure_switch(double budget_ms) {
  static two_contexts c;
  c.there = sinew_fiber_prepare(c.stack + sizeof c.stack, two_contexts::bounce, &c);
  return micro::repeat(budget_ms, [] {
    constexpr int pairs = 2000;
    const double begin = micro::now_ns();
    for (int i = 0; i < pairs; ++i) {
      sinew_fiber_switch(&c.here, c.there);
    }
    return (micro::now_ns() - begin) / (2 * pairs);
  });
}

// ---- fibers
// ---------------------------------------------------------------------------------------

fiber::fiber& spawned(void (*entry)(void*), void* argument, int worker = -1) {
  fiber::fiber* made = nullptr;
  if (!fiber::spawn(entry, argument, &made, {.worker = worker}).done()) {
    micro::wrong("no memory");
  }
  return *made;
}

struct ours {
  static constexpr int most = 1 << 20;

  static double bare_switch(double budget_ms) { return measure_switch(budget_ms); }

  static double yield(int n, int each) {
    static thread_local std::vector<fiber::fiber*> all;
    const auto scheduler = std::make_unique<fiber::scheduler>(one_worker());
    all.clear();
    const double begin = micro::now_ns();
    for (int i = 0; i < n; ++i) {
      all.push_back(&spawned(
          [](void* times) {
            for (int y = *static_cast<int*>(times); y > 0; --y) {
              fiber::yield();
            }
          },
          &each));
    }
    for (fiber::fiber* one : all) {
      fiber::join(*one);
    }
    return (micro::now_ns() - begin) / n / each;
  }

  struct blocked {
    std::atomic<int>* woken;
    std::atomic<bool>* end;
    fiber::fiber* self = nullptr;
  };

  static double signal(int n, double budget_ms) {
    const fiber::scheduler scheduler({.workers = 2, .pin = true, .steal = false});
    std::atomic<int> woken{0};
    std::atomic<bool> end{false};
    std::vector<blocked> all(static_cast<std::size_t>(n), {&woken, &end});
    const auto entry = [](void* argument) {
      auto& b = *static_cast<blocked*>(argument);
      b.woken->fetch_add(1);
      while (!b.end->load()) {
        fiber::suspend();
        b.woken->fetch_add(1);
      }
    };
    for (blocked& b : all) {
      b.self = &spawned(entry, &b, 1);
    }
    const auto all_blocked = [&](int expected) {
      while (woken.load() < expected) {
        sinew::cpu_relax();
      }
      pause_us(20);  // until the last of them has suspended
    };
    all_blocked(n);
    const double result = micro::repeat(budget_ms, [&] {
      woken = 0;
      const double begin = micro::now_ns();
      for (const blocked& b : all) {
        fiber::resume(*b.self);
      }
      const double ns = (micro::now_ns() - begin) / n;
      all_blocked(n);
      return ns;
    });
    end = true;
    for (const blocked& b : all) {
      fiber::resume(*b.self);
    }
    for (const blocked& b : all) {
      fiber::join(*b.self);
    }
    return result;
  }

  struct ball {
    std::atomic<int> turn{0};
    fiber::fiber* players[2] = {};
    void pass(int to) {
      turn.store(to, std::memory_order_release);
      fiber::resume(*players[to]);
    }
    void await(int me) {
      while (turn.load(std::memory_order_acquire) != me) {
        fiber::suspend();
      }
    }
  };

  static double round_trip(double budget_ms) {
    const fiber::scheduler scheduler({.workers = 2, .pin = true, .steal = false});
    constexpr int trips = 500;
    ball b;
    b.players[0] = fiber::self();
    std::atomic<bool> end{false};
    std::pair<ball*, std::atomic<bool>*> there(&b, &end);
    b.players[1] = &spawned(
        [](void* argument) {
          auto& [ball, stop] = *static_cast<decltype(there)*>(argument);
          for (ball->await(1); !stop->load(); ball->await(1)) {
            ball->pass(0);
          }
        },
        &there, 1);
    const double result = micro::repeat(budget_ms, [&] {
      const double begin = micro::now_ns();
      for (int i = 0; i < trips; ++i) {
        b.pass(1);
        b.await(0);
      }
      return (micro::now_ns() - begin) / trips;
    });
    end = true;
    b.pass(1);
    fiber::join(*b.players[1]);
    return result;
  }

  static double spawn_join(double budget_ms) {
    const fiber::scheduler scheduler(one_worker());
    return micro::repeat(budget_ms, [] {
      constexpr int many = 500;
      const double begin = micro::now_ns();
      for (int i = 0; i < many; ++i) {
        fiber::join(spawned([](void*) {}, nullptr));
      }
      return (micro::now_ns() - begin) / many;
    });
  }

 private:
  static fiber::scheduler_options one_worker() {
    return {.workers = 1, .pin = true, .steal = false};
  }
  static void pause_us(int us) {
    for (const double end = micro::now_ns() + us * 1e3; micro::now_ns() < end;) {
      sinew::cpu_relax();
    }
  }
};

double measure_line(double budget_ms) {
  constexpr int trips = 2000;
  alignas(128) std::atomic<long> there{0};
  alignas(128) std::atomic<long> back{0};
  std::vector<double> samples;
  micro::crew(2, [&](int me) {
    const auto await = [](const std::atomic<long>& line, long value) {
      while (line.load(std::memory_order_acquire) != value) {
        sinew::cpu_relax();
      }
    };
    micro::rounds r(1, budget_ms);
    long n = 0;
    if (me == 1) {
      for (;; ++n) {
        long seen = 0;
        while ((seen = there.load(std::memory_order_acquire)) == n) {
          sinew::cpu_relax();
        }
        if (seen < 0) {
          return;
        }
        back.store(seen, std::memory_order_release);
      }
    }
    while (r.another(0)) {
      const double begin = micro::now_ns();
      for (int i = 0; i < trips; ++i) {
        there.store(++n, std::memory_order_release);
        await(back, n);
      }
      samples.push_back((micro::now_ns() - begin) / trips);
    }
    there.store(-1);
  });
  return micro::median(samples);
}

int floor(double budget_ms) {
  const double bare = measure_switch(budget_ms);
  micro::report_fibers("switch", 2, bare);
  for (const int n : {2, 64, 1024}) {
    micro::report_fibers("yield", n, bare);
  }
  micro::report_fibers("round-trip", 2, measure_line(budget_ms));
  micro::report_fibers("spawn-join", 1, 2 * bare);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  return o.floor ? floor(o.budget_ms) : micro::threads_main<ours>(argc, argv);
}
