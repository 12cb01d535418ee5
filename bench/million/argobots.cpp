// SPDX-License-Identifier: BSD-3-Clause
// Argobots: one stream, by the method of million_bench.hpp.
#include "../common/argobots.hpp"

#include <atomic>
#include <vector>

#include "million_bench.hpp"

namespace {

using micro::good;

class crowd {
 public:
  bool make(std::size_t stack) {
    ABT_thread_attr how{};
    good(ABT_thread_attr_create(&how));
    good(ABT_thread_attr_set_stacksize(how, stack));
    ABT_thread made{};
    const auto entry = [](void* self) { static_cast<crowd*>(self)->run(); };
    const bool there = ABT_thread_create(pool_, entry, this, how, &made) == ABT_SUCCESS;
    good(ABT_thread_attr_free(&how));
    if (there) {
      all_.push_back(made);
    }
    return there;
  }
  static void await(int count) {
    while (micro::arrived.load(std::memory_order_acquire) < count) {
      good(ABT_thread_yield());
    }
  }
  void open() { gate_.open_for_all(); }
  void join_all() {
    for (ABT_thread& each : all_) {
      good(ABT_thread_free(&each));
    }
  }

 private:
  void run() {
    micro::arrive();
    gate_.pass();
  }

  ABT_pool pool_ = micro::own_pool();
  micro::abt_gate gate_;
  std::vector<ABT_thread> all_;
};

}  // namespace

int main(int argc, char** argv) {
  return micro::over_argobots([&] { return micro::crowd_main<crowd>(argc, argv); });
}
