// SPDX-License-Identifier: BSD-3-Clause
// moodycamel's ConcurrentQueue, with the tokens that its author recommends for speed.
#include <concurrentqueue/concurrentqueue.h>

#include "pool_bench.hpp"

namespace {

using queue = moodycamel::ConcurrentQueue<void*>;

struct pool {
  explicit pool(int /*threads*/) {
    for (int i = 0; i < micro::pool_packets; ++i) {
      free.enqueue(micro::some_packet(i));
    }
  }
  struct user {
    user(pool& p, int /*me*/) : free(p.free), from(p.free), to(p.free) {}
    void* get() {
      return micro::insist([this] {
        void* packet = nullptr;
        return free.try_dequeue(from, packet) ? packet : nullptr;
      });
    }
    void put(void* packet) { free.enqueue(to, packet); }
    queue& free;
    moodycamel::ConsumerToken from;
    moodycamel::ProducerToken to;
  };
  queue free;
};

}  // namespace

int main(int argc, char** argv) { return micro::pool_main<pool>(argc, argv); }
