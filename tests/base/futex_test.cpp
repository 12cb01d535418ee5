// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/futex.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "sinew/base/clock.hpp"
#include "sinew/base/membarrier.hpp"

namespace sinew::base {
namespace {

using word = std::atomic<std::uint32_t>;

TEST(futex, does_not_sleep_if_the_word_is_another) {
  word w{1};
  futex_wait(w, 0);  // for ever, otherwise
}

TEST(futex, zero_is_no_time_at_all_and_a_limit_is_kept) {
  word w{0};
  futex_wait(w, 0, 0);
  const std::int64_t begin = now_ns();
  while (now_ns() - begin < 3'000'000) {  // it may return early
    futex_wait(w, 0, static_cast<std::uint64_t>(begin + 3'000'000 - now_ns()));
  }
}

TEST(futex, wakes_a_thread) {
  word w{0};
  std::thread sleeper([&] {
    while (w.load() == 0) {
      futex_wait(w, 0);
    }
  });
  ::usleep(1000);
  w.store(1);
  futex_wake(w, 1);
  sleeper.join();
}

TEST(futex, wakes_another_process_through_shared_memory) {
  void* room =
      ::mmap(nullptr, sizeof(word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  word& w = *new (room) word{0};
  const pid_t child = ::fork();
  if (child == 0) {
    while (w.load() == 0) {
      futex_wait(w, 0, no_limit, within::machine);
    }
    ::_exit(0);
  }
  ::usleep(1000);
  w.store(1);
  futex_wake(w, 1, within::machine);
  int code = -1;
  EXPECT_EQ(::waitpid(child, &code, 0), child);
  EXPECT_EQ(code, 0);
  ::munmap(room, sizeof(word));
}

// Dekker's way of keeping two apart, with the fence of both paid by one.
TEST(membarrier, orders_a_store_before_a_load_in_another_thread) {
  if (!join_membarrier(within::process)) {
    GTEST_SKIP() << "this kernel does not offer it";
  }
  for (int i = 0; i < 500; ++i) {
    word mine{0};
    word theirs{0};
    word go{0};
    std::uint32_t seen = 0;
    std::thread other([&] {
      while (go.load() == 0) {
      }
      theirs.store(1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      seen = mine.load(std::memory_order_relaxed);
    });
    go.store(1);
    mine.store(1, std::memory_order_relaxed);
    membarrier(within::process);
    const std::uint32_t saw = theirs.load(std::memory_order_relaxed);
    other.join();
    ASSERT_TRUE(saw == 1 || seen == 1);
  }
}

}  // namespace
}  // namespace sinew::base
