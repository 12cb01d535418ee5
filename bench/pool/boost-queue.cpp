// Boost's lock-free queue of fixed size, shared by all.
#include <boost/lockfree/queue.hpp>
#include <boost/version.hpp>

#include "pool_bench.hpp"

namespace {

struct pool {
  explicit pool(int /*threads*/) {
    for (int i = 0; i < micro::pool_packets; ++i) free.push(micro::some_packet(i));
  }
  struct user {
    user(pool& p, int /*me*/) : free(p.free) {}
    void* get() {
      return micro::insist([this] {
        void* packet = nullptr;
        return free.pop(packet) ? packet : nullptr;
      });
    }
    void put(void* packet) { free.push(packet); }
    boost::lockfree::queue<void*, boost::lockfree::capacity<micro::pool_packets>>& free;
  };
  boost::lockfree::queue<void*, boost::lockfree::capacity<micro::pool_packets>> free;
};

}  // namespace

int main(int argc, char** argv) {
  std::printf("@version %s\n", BOOST_LIB_VERSION);
  return micro::pool_main<pool>(argc, argv);
}
