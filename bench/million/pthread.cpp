// SPDX-License-Identifier: BSD-3-Clause
// Threads of the system, by the method of million_bench.hpp, up to how many it allows. They inherit
// the one processor of their maker.
#include <algorithm>
#include <atomic>
#include <climits>
#include <vector>

#include "million_bench.hpp"

namespace {

class crowd {
 public:
  bool make(std::size_t stack) {
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, std::max<std::size_t>(stack, PTHREAD_STACK_MIN));
    pthread_t made{};
    const auto entry = [](void* self) -> void* {
      static_cast<crowd*>(self)->run();
      return nullptr;
    };
    const bool there = pthread_create(&made, &how, entry, this) == 0;
    pthread_attr_destroy(&how);
    if (there) {
      all_.push_back(made);
    }
    return there;
  }
  static void await(int count) {
    while (micro::arrived.load(std::memory_order_acquire) < count) {
      sched_yield();
    }
  }
  void open() {
    pthread_mutex_lock(&lock_);
    open_ = true;
    pthread_mutex_unlock(&lock_);
    pthread_cond_broadcast(&changed_);
  }
  void join_all() {
    for (const pthread_t each : all_) {
      pthread_join(each, nullptr);
    }
  }

 private:
  void run() {
    micro::arrive();
    pthread_mutex_lock(&lock_);
    while (!open_) {
      pthread_cond_wait(&changed_, &lock_);
    }
    pthread_mutex_unlock(&lock_);
  }

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  bool open_ = false;
  std::vector<pthread_t> all_;
};

}  // namespace

int main(int argc, char** argv) { return micro::crowd_main<crowd>(argc, argv); }
