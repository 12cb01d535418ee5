// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/signals_blocked.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "gtest/gtest.h"

namespace sinew::base {
namespace {

// The C library signals each thread, and waits until all have answered.
TEST(signals_blocked, the_user_can_be_set_while_a_thread_blocks_them) {
  std::mutex until;
  until.lock();
  std::atomic<bool> blocks = false;
  std::thread blocked([&] {
    const signals_blocked none;
    blocks.store(true);
    const std::lock_guard held(until);
  });
  while (!blocks.load()) {
    std::this_thread::yield();
  }
  ::alarm(30);  // ends the test if it hangs
  EXPECT_EQ(::seteuid(::geteuid()), 0);
  ::alarm(0);
  until.unlock();
  blocked.join();
}

TEST(signals_blocked, all_others_wait_until_it_ends) {
  static volatile std::sig_atomic_t seen = 0;
  const auto before = std::signal(SIGUSR1, [](int) { seen = 1; });
  {
    const signals_blocked none;
    ASSERT_EQ(::raise(SIGUSR1), 0);
    EXPECT_EQ(seen, 0);
  }
  EXPECT_EQ(seen, 1);
  std::signal(SIGUSR1, before);
}

}  // namespace
}  // namespace sinew::base
