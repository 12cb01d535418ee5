// SPDX-License-Identifier: BSD-3-Clause
// Boost's lock-free queue of fixed size, shared by all.
#include <boost/lockfree/queue.hpp>
#include <boost/version.hpp>
#include <cstdio>

#include "pool_bench.hpp"

int main(int argc, char** argv) {
  using container = boost::lockfree::queue<void*, boost::lockfree::capacity<micro::pool_packets>>;
  std::printf("@version %s\n", BOOST_LIB_VERSION);
  return micro::pool_main<micro::shared_container<container>>(argc, argv);
}
