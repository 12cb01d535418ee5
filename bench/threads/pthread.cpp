// POSIX threads. A "worker" is a processor: threads of one worker are pinned to the same one.
#include <memory>

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
    while (!open) pthread_cond_wait(&changed, &mutex);
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
        for (int y = 0; y < each; ++y) sched_yield();
      });
    }
    for (std::thread& one : all) one.join();
    return (micro::now_ns() - begin) / n / each;
  }

  static double signal(int n, double budget_ms) {
    const std::unique_ptr<gate[]> gates(new gate[static_cast<std::size_t>(n)]);
    std::atomic<int> woken{0};
    std::atomic<bool> end{false};
    std::vector<std::thread> all;
    for (int i = 0; i < n; ++i) {
      all.emplace_back([&, i] {
        micro::pin(1);
        woken.fetch_add(1);
        while (!end.load()) {
          gates[static_cast<std::size_t>(i)].await();
          woken.fetch_add(1);
        }
      });
    }
    micro::pin(0);
    const auto all_blocked = [&] {
      while (woken.load() < n) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    };
    all_blocked();
    const double result = micro::repeat(budget_ms, [&] {
      woken = 0;
      const double begin = micro::now_ns();
      for (int i = 0; i < n; ++i) gates[static_cast<std::size_t>(i)].set();
      const double ns = (micro::now_ns() - begin) / n;
      all_blocked();
      return ns;
    });
    end = true;
    for (int i = 0; i < n; ++i) gates[static_cast<std::size_t>(i)].set();
    for (std::thread& one : all) one.join();
    return result;
  }

  static double round_trip(double budget_ms) {
    gate there;
    gate back;
    std::atomic<bool> end{false};
    std::thread other([&] {
      micro::pin(1);
      for (there.await(); !end.load(); there.await()) back.set();
    });
    micro::pin(0);
    const double result = micro::repeat(budget_ms, [&] {
      constexpr int trips = 50;
      const double begin = micro::now_ns();
      for (int i = 0; i < trips; ++i) {
        there.set();
        back.await();
      }
      return (micro::now_ns() - begin) / trips;
    });
    end = true;
    there.set();
    other.join();
    return result;
  }

  static double spawn_join(double budget_ms) {
    return micro::repeat(budget_ms, [] {
      constexpr int many = 50;
      const double begin = micro::now_ns();
      for (int i = 0; i < many; ++i) std::thread([] {}).join();
      return (micro::now_ns() - begin) / many;
    });
  }
};

}  // namespace

int main(int argc, char** argv) { return micro::threads_main<posix>(argc, argv); }
