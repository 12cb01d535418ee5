// SPDX-License-Identifier: BSD-3-Clause
// A crowd of Sinew's fibers, of one worker, by the method of million_bench.hpp. (million.c measures
// crowds that exchange messages.)
#include <vector>

#include "million_bench.hpp"
#include "sinew/fiber/barrier.hpp"
#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace {

namespace fiber = sinew::fiber;

class fibers {
 public:
  bool make(std::size_t stack) {
    fiber::fiber* made = nullptr;
    const auto entry = [](void* self) { static_cast<fibers*>(self)->run(); };
    if (!fiber::spawn(entry, this, &made, {.stack_bytes = stack}).done()) {
      return false;
    }
    all_.push_back(made);
    return true;
  }
  static void await(int count) {
    while (micro::arrived.load(std::memory_order_acquire) < count) {
      fiber::yield();
    }
  }
  void open() {
    lock_.lock();
    open_ = true;
    lock_.unlock();
    changed_.notify_all();
  }
  void join_all() {
    for (fiber::fiber* each : all_) {
      fiber::join(*each);
    }
  }

 private:
  void run() {
    micro::arrive();
    lock_.lock();
    while (!open_) {
      changed_.wait(lock_);
    }
    lock_.unlock();
  }

  fiber::scheduler scheduler_{{.workers = 1, .pin = true, .steal = false}};
  fiber::mutex lock_;
  fiber::condition_variable changed_;
  bool open_ = false;
  std::vector<fiber::fiber*> all_;
};

}  // namespace

int main(int argc, char** argv) { return micro::crowd_main<fibers>(argc, argv); }
