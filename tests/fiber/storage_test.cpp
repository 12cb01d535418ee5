// SPDX-License-Identifier: BSD-3-Clause
// Fiber-local storage, and thread-local storage of a fiber's own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/local.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/fiber/thread_storage.hpp"
#include "support/fibers.hpp"

namespace sinew::fiber {
namespace {

class storage : public ::testing::TestWithParam<int> {
 protected:
  scheduler scheduler_{{.workers = GetParam()}};
};

INSTANTIATE_TEST_SUITE_P(workers, storage, ::testing::Values(1, 2),
                         [](const auto& i) { return "workers" + std::to_string(i.param); });

TEST_P(storage, each_fiber_and_thread_has_its_own_values) {
  std::vector<std::unique_ptr<local_key>> keys;
  for (int k = 0; k < 40; ++k) {
    keys.push_back(std::make_unique<local_key>());
  }
  const auto body = [&](int who) {
    for (int k = 0; k < 40; ++k) {
      EXPECT_EQ(keys[k]->get(), nullptr);
    }
    for (int k = 39; k >= 0; k -= who) {
      EXPECT_TRUE(keys[k]->set(&keys[k] + who).done());
      yield();
    }
    for (int k = 39; k >= 0; k -= who) {
      EXPECT_EQ(keys[k]->get(), &keys[k] + who);
    }
  };
  test::crew crew;
  for (int i = 1; i < 10; ++i) {
    crew.add([&, i] { body(i); }, {.worker = i});
  }
  std::thread outside([&] { body(11); });
  crew.join();
  outside.join();
  EXPECT_EQ(keys[3]->get(), nullptr);
}

int destroyed = 0;
local_key* again = nullptr;

TEST_P(storage, values_are_destroyed_with_their_fiber) {
  local_key counts([](void* v) { destroyed += *static_cast<int*>(v); });
  local_key plain;
  static int one = 1;
  destroyed = 0;
  test::crew crew;
  for (int i = 0; i < 5; ++i) {
    crew.add(
        [&] {
          (void)counts.set(&one);
          (void)plain.set(&one);
          yield();
        },
        {.worker = 0});
  }
  crew.join();
  EXPECT_EQ(destroyed, 5);
  std::thread([&] { (void)counts.set(&one); }).join();
  EXPECT_EQ(destroyed, 6);
}

TEST_P(storage, a_destructor_that_stores_again_ends) {
  local_key stubborn([](void* v) {
    ++destroyed;
    (void)again->set(v);
  });
  again = &stubborn;
  destroyed = 0;
  test::crew crew;
  crew.add([&] { (void)stubborn.set(&destroyed); });
  crew.join();
  EXPECT_GT(destroyed, 1);
  EXPECT_LT(destroyed, 100);
}

TEST_P(storage, a_new_key_does_not_see_the_values_of_an_old_one) {
  int x = 0;
  auto first = std::make_unique<local_key>();
  EXPECT_TRUE(first->set(&x).done());
  first.reset();
  local_key second;
  EXPECT_EQ(second.get(), nullptr);
}

thread_local long own_long = 41;
[[maybe_unused]] thread_local char own_text[100] = "as initialised";

/// A copy of this thread's storage, as the C library lays it out: static storage ends at the thread
/// pointer (x86-64), where the control block begins. Good for this test, no more.
class copied_storage {
 public:
  copied_storage() : memory_(static_cast<char*>(std::aligned_alloc(64, below + above))) {
    std::memcpy(memory_, reinterpret_cast<void*>(thread_base() - below), below + above);
    const std::uintptr_t self = base();
    std::memcpy(memory_ + below, &self, sizeof self);       // fs:0
    std::memcpy(memory_ + below + 16, &self, sizeof self);  // fs:16
    own(own_long) = 41;
  }
  ~copied_storage() { std::free(memory_); }
  [[nodiscard]] std::uintptr_t base() const {
    return reinterpret_cast<std::uintptr_t>(memory_) + below;
  }
  template <class T>
  T& own(T& mine) {
    return *reinterpret_cast<T*>(base() -
                                 (thread_base() - reinterpret_cast<std::uintptr_t>(&mine)));
  }

 private:
  // What this program has is less: there is readable memory below and above in the main thread.
  static constexpr std::size_t below = 1024;
  static constexpr std::size_t above = 2048;
  char* memory_;
};

TEST_P(storage, a_fiber_may_have_thread_local_variables_of_its_own) {
#if defined(__x86_64__) && !defined(SINEW_TSAN) && !defined(SINEW_ASAN)
  if (!thread_storage_supported()) {
    GTEST_SKIP() << "the kernel does not let us";
  }
  if (GetParam() > 1) {
    GTEST_SKIP() << "the copy is of this thread";
  }
  own_long = 5;
  std::vector<copied_storage> copies(3);
  test::crew crew;
  std::vector<long> seen;
  for (copied_storage& c : copies) {
    crew.add(
        [&seen, self_base = c.base()] {
          EXPECT_EQ(thread_base(), self_base);
          for (int i = 0; i < 3; ++i) {
            ++own_long;
            yield();
          }
          seen.push_back(own_long);
          EXPECT_EQ(thread_base(), self_base);
        },
        {.worker = 0, .thread_base = c.base()});
    crew.add([] { yield(); }, {.worker = 0});
  }
  crew.join();
  EXPECT_EQ(seen, (std::vector<long>{44, 44, 44}));
  EXPECT_EQ(own_long, 5);
  EXPECT_STREQ(own_text, "as initialised");
#else
  GTEST_SKIP() << "the test knows only the layout of plain x86-64";
#endif
}

}  // namespace
}  // namespace sinew::fiber
