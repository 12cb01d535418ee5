// SPDX-License-Identifier: BSD-3-Clause
// Threads of the C++ standard library: they reach the C library through pthread functions, and
// through futexes of their own (atomics, futures, semaphores, static objects).
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

using namespace std::chrono_literals;

thread_local std::string name = "x";
std::atomic<int> destroyed{0};

struct counted {
  int uses = 0;
  ~counted() { destroyed += uses; }
};
thread_local counted local;

void futures() {
  std::vector<std::future<long>> all;
  for (long i = 0; i < 50; ++i) {
    all.push_back(std::async(std::launch::async, [i] {
      name += std::to_string(i);
      std::this_thread::sleep_for(1ms);
      CHECK(name == "x" + std::to_string(i));
      if (i == 13) {
        throw std::runtime_error("thirteen");
      }
      return i;
    }));
  }
  long sum = 0;
  int caught = 0;
  for (auto& each : all) {
    try {
      sum += each.get();
    } catch (const std::runtime_error& problem) {
      CHECK(std::string(problem.what()) == "thirteen");
      ++caught;
    }
  }
  CHECK(sum == 49 * 50 / 2 - 13 && caught == 1);
  std::promise<int> promise;
  std::thread keeper([&promise] { promise.set_value(7); });
  CHECK(promise.get_future().get() == 7);
  keeper.join();
}

void atomics() {
  std::atomic<int> word{0};
  std::thread other([&word] {
    word.wait(0);
    word = 2;
    word.notify_all();
  });
  word = 1;
  word.notify_all();
  word.wait(1);
  other.join();
  CHECK(word == 2);
}

void meetings() {
  constexpr int count = 8;
  std::counting_semaphore<> ended(0);
  std::latch begun(count);
  std::barrier<> round(count);
  std::shared_mutex shared;
  std::timed_mutex timed;
  int value = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      ++local.uses;
      begun.arrive_and_wait();
      for (int j = 0; j < 100; ++j) {
        round.arrive_and_wait();
        {
          const std::unique_lock hold(shared);
          ++value;
        }
        {
          const std::shared_lock hold(shared);
          CHECK(value > 0);
        }
        const std::unique_lock hold(timed, 50s);
        CHECK(hold.owns_lock());
      }
      ended.release();
    });
  }
  for (int i = 0; i < count; ++i) {
    ended.acquire();
  }
  threads.clear();
  CHECK(value == count * 100 && destroyed == count);
}

void timeouts() {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock hold(mutex);
  while (changed.wait_for(hold, 5ms) == std::cv_status::no_timeout) {
  }
  CHECK(!changed.wait_for(hold, 5ms, [] { return false; }));
}

struct slow {
  static inline std::atomic<int> made{0};
  slow() {
    ++made;
    std::this_thread::sleep_for(3ms);
  }
};

void once() {
  std::once_flag flag;
  int done = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&] {
      std::call_once(flag, [&] {
        std::this_thread::sleep_for(2ms);
        ++done;
      });
      CHECK(done == 1);
      static slow only;
      CHECK(slow::made == 1);
    });
  }
}

void stops() {
  std::jthread thread([](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock hold(mutex);
    CHECK(!changed.wait(hold, stop, [] { return false; }));
  });
  std::this_thread::sleep_for(2ms);
  thread.request_stop();
}

}  // namespace

int main() {
  futures();
  atomics();
  meetings();
  timeouts();
  once();
  stops();
  CHECK(name == "x");
  std::puts("all parts hold");
}
