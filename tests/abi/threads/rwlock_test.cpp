// SPDX-License-Identifier: BSD-3-Clause
// The program's lock for readers and writers, in all orders of its steps with few preemptions, and
// in many by seed: it excludes, and nobody waits for ever.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "abi/threads/rwlock_core.hpp"
#include "sinew/base/random.hpp"
#include "support/explorer.hpp"

namespace sinew::threads {
namespace {

struct waiter {
  bool released = false;
};

/// One address, whose waiters are under a lock of their own as in the parking lot. A wait with a
/// limit may end at any moment.
struct explored_parking {
  static void step() { test::explorer::step(); }
  static pthread_t self() { return me; }
  static woken wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                          const char* /*why*/, moment until) {
    step();
    if (word.load() != value) {
      return woken::changed;
    }
    waiter here;
    queue.push_back(&here);
    ++waits;
    for (unsigned i = 0; !here.released; ++i) {
      test::explorer::wait(i);
      if (until != never && !here.released) {
        queue.erase(std::find(queue.begin(), queue.end(), &here));
        return woken::timed_out;
      }
    }
    return woken::released;
  }
  static void release_all(const void* /*address*/) {
    step();
    for (waiter* each : std::exchange(queue, {})) {
      each->released = true;
    }
    step();
  }

  static inline thread_local pthread_t me = 0;
  static inline std::vector<waiter*> queue;
  static inline long waits = 0;
};

using lock = rwlock_core<explored_parking>;

struct turn {
  bool writes;
  bool limited;
};

/// Threads with a list of turns each.
class library {
 public:
  library(std::vector<std::vector<turn>> work, bool prefers_writers) : work_(std::move(work)) {
    explored_parking::queue.clear();
    lock_->flags = prefers_writers ? PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP : 0;
  }

  std::vector<std::function<void()>> all() {
    std::vector<std::function<void()>> made;
    for (const auto& each : work_) {
      made.emplace_back([this, &each] {
        explored_parking::me = 1 + static_cast<pthread_t>(&each - work_.data());
        for (const turn& t : each) {
          use(t);
        }
      });
    }
    return made;
  }
  void check() const {
    ASSERT_EQ(lock_->word.load(), 0U) << "free, and nobody is waited for";
    ASSERT_TRUE(explored_parking::queue.empty());
  }

 private:
  void use(const turn& t) {
    const moment until = t.limited ? 1 : never;
    const int code = t.writes ? lock_->write("write", until) : lock_->read("read", until);
    if (code == ETIMEDOUT) {
      ASSERT_TRUE(t.limited);
      return;
    }
    ASSERT_EQ(code, 0);
    (t.writes ? writers_ : readers_) += 1;
    expect_excluded();
    test::explorer::step();
    expect_excluded();
    (t.writes ? writers_ : readers_) -= 1;
    ASSERT_EQ(lock_->unlock(), 0);
  }
  void expect_excluded() const {
    ASSERT_TRUE(writers_ == 0 || (writers_ == 1 && readers_ == 0))
        << writers_ << " writers and " << readers_ << " readers";
  }

  std::vector<std::vector<turn>> work_;
  std::unique_ptr<lock> lock_ = std::make_unique<lock>();
  int readers_ = 0;
  int writers_ = 0;
};

constexpr turn reads{false, false};
constexpr turn writes{true, false};
constexpr turn may_write{true, true};
constexpr turn may_read{false, true};

TEST(rwlock, in_every_order_with_few_preemptions) {
  using all_work = std::vector<std::vector<turn>>;
  const long waits_before = explored_parking::waits;
  for (const bool prefers_writers : {false, true}) {
    for (const auto& work :
         {all_work{{reads}, {writes}, {reads}}, all_work{{writes}, {writes}, {reads}},
          all_work{{reads}, {may_write}, {reads}}, all_work{{writes}, {may_read}, {may_write}}}) {
      for (const int preemptions : {1, 2, 3}) {
        test::exhaustive_chooser all(preemptions);
        long runs = 0;
        do {
          library one(work, prefers_writers);
          test::explorer::run(one.all(), all);
          one.check();
          ASSERT_FALSE(HasFailure()) << "in run " << runs;
        } while (++runs < 400 && all.next());
      }
    }
  }
  EXPECT_GT(explored_parking::waits, waits_before);
}

TEST(rwlock, in_orders_by_seed) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 2000; ++i) {
    random_generator random(seed + i);
    std::vector<std::vector<turn>> work(2 + i % 3);
    for (auto& each : work) {
      for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
        each.push_back({random.with_probability(0.4), random.with_probability(0.3)});
      }
    }
    library one(std::move(work), random.with_probability(0.5));
    test::random_chooser some(seed + i, i % 2 == 0 ? 0.2 : 0.6);
    test::explorer::run(one.all(), some);
    one.check();
    ASSERT_FALSE(HasFailure()) << "scenario " << seed + i;
  }
}

/// A reader waits, while it holds the lock, for another one, which a writer kept out just before.
TEST(rwlock, who_may_read_does_not_wait_for_other_readers) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 500; ++i) {
    explored_parking::queue.clear();
    const auto it = std::make_unique<lock>();
    bool read = false;
    const auto reader = [&](pthread_t number, bool waits) {
      explored_parking::me = number;
      ASSERT_EQ(it->read("read", never), 0);
      unsigned n = 0;
      while (waits && !read) {
        test::explorer::wait(n++);
      }
      read = true;
      ASSERT_EQ(it->unlock(), 0);
    };
    const std::vector<std::function<void()>> all = {[&] {
                                                      explored_parking::me = 3;
                                                      ASSERT_EQ(it->write("write", never), 0);
                                                      ASSERT_EQ(it->unlock(), 0);
                                                    },
                                                    [&] { reader(1, true); },
                                                    [&] { reader(2, false); }};
    test::random_chooser some(seed + i, i % 2 == 0 ? 0.2 : 0.6);
    test::explorer::run(all, some);
    ASSERT_FALSE(HasFailure()) << "scenario " << seed + i;
  }
}

/// A reader waits, while it holds the lock, for another one. A writer that comes in between keeps
/// that out, but only until it gives up.
TEST(rwlock, a_writer_that_has_given_up_keeps_no_reader_out) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 500; ++i) {
    explored_parking::queue.clear();
    const auto it = std::make_unique<lock>();
    it->flags = PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
    bool read = false;
    const std::vector<std::function<void()>> all = {[&] {
                                                      explored_parking::me = 1;
                                                      ASSERT_EQ(it->read("read", never), 0);
                                                      unsigned n = 0;
                                                      while (!read) {
                                                        test::explorer::wait(n++);
                                                      }
                                                      ASSERT_EQ(it->unlock(), 0);
                                                    },
                                                    [&] {
                                                      explored_parking::me = 2;
                                                      if (it->write("write", 1) == 0) {
                                                        ASSERT_EQ(it->unlock(), 0);
                                                      }
                                                    },
                                                    [&] {
                                                      explored_parking::me = 3;
                                                      ASSERT_EQ(it->read("read", never), 0);
                                                      read = true;
                                                      ASSERT_EQ(it->unlock(), 0);
                                                    }};
    test::random_chooser some(seed + i, i % 2 == 0 ? 0.2 : 0.6);
    test::explorer::run(all, some);
    ASSERT_FALSE(HasFailure()) << "scenario " << seed + i;
    ASSERT_EQ(it->word.load(), 0U);
  }
}

}  // namespace
}  // namespace sinew::threads
