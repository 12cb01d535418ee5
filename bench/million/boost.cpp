// SPDX-License-Identifier: BSD-3-Clause
// Boost.Fiber, its default scheduler, by the method of million_bench.hpp.
#include <atomic>
#include <boost/fiber/all.hpp>
#include <mutex>
#include <new>
#include <vector>

#include "million_bench.hpp"

namespace {

namespace fibers = boost::fibers;

class crowd {
 public:
  bool make(std::size_t stack) {
    try {
      all_.emplace_back(std::allocator_arg, fibers::fixedsize_stack(stack), [this] { run(); });
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  static void await(int count) {
    while (micro::arrived.load(std::memory_order_acquire) < count) {
      boost::this_fiber::yield();
    }
  }
  void open() {
    {
      const std::lock_guard<fibers::mutex> held(lock_);
      open_ = true;
    }
    changed_.notify_all();
  }
  void join_all() {
    for (fibers::fiber& each : all_) {
      each.join();
    }
  }

 private:
  void run() {
    micro::arrive();
    std::unique_lock<fibers::mutex> held(lock_);
    changed_.wait(held, [this] { return open_; });
  }

  fibers::mutex lock_;
  fibers::condition_variable changed_;
  bool open_ = false;
  std::vector<fibers::fiber> all_;
};

}  // namespace

int main(int argc, char** argv) { return micro::crowd_main<crowd>(argc, argv); }
