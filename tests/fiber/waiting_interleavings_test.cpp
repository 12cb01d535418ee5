// SPDX-License-Identifier: BSD-3-Clause
// Channels with select and the lock of readers and writers, in all orders of their steps with few
// preemptions, and in many by seed: nothing is lost, doubled or left waiting.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "explored_waits.hpp"
#include "fiber/channel_core.hpp"
#include "fiber/shared_mutex_core.hpp"
#include "sinew/base/random.hpp"
#include "support/explorer.hpp"

namespace sinew::fiber {
namespace {

using explored_channel = basic_channel<explored_waits>;
using bodies = std::vector<std::function<void()>>;

/// Runs what `make` makes of a fresh scenario: all orders with one preemption, those with more up
/// to a number, which differ late, and as many by seed, which differ early.
template <class Scenario, class Make>
void in_many_orders(int preemptions, Make make) {
  const long most = 100 * static_cast<long>(test::exploration_scale);
  const auto run = [&make](test::chooser& by) {
    explored_waits::turn = static_cast<std::size_t>(0);
    Scenario one = make();
    test::explorer::run(one.all(), by);
    one.check();
    return !testing::Test::HasFailure();
  };
  long runs = 0;
  for (int few = 1; few <= preemptions; ++few) {
    test::exhaustive_chooser all(few);
    do {
      ASSERT_TRUE(run(all)) << "in run " << runs;
    } while (++runs % most != 0 && all.next());
  }
  const std::uint64_t seed = seed_from_environment();
  for (long i = 0; i < most; ++i) {
    test::random_chooser some(seed + static_cast<std::uint64_t>(i), i % 2 == 0 ? 0.2 : 0.6);
    ASSERT_TRUE(run(some)) << "in run " << i << " by seed";
  }
  EXPECT_GT(runs, 50);
}

/// Two senders' values meet two receivers that wait at both channels.
struct crossing {
  explicit crossing(std::size_t capacity)
      : a(new explored_channel(sizeof(int), capacity)),
        b(new explored_channel(sizeof(int), capacity)) {}

  bodies all() {
    return {[this] { send(); }, [this] { receive(0, {a.get(), b.get()}); },
            [this] { receive(1, {b.get(), a.get()}); }};
  }
  void send() {
    for (int value : {1, 2}) {
      explored_channel& to = value == 1 ? *a : *b;
      ASSERT_EQ(to.send(&value), waited::done);
    }
  }
  void receive(std::size_t who, std::array<explored_channel*, 2> from) {
    int value = 0;
    const std::array<explored_channel::choice, 2> both = {
        explored_channel::choice{from[0], false, &value},
        explored_channel::choice{from[1], false, &value}};
    const auto found = explored_channel::select(both.data(), both.size());
    ASSERT_EQ(found.how, waited::done);
    ASSERT_LT(found.which, both.size());
    ASSERT_EQ(value, from[found.which] == a.get() ? 1 : 2);
    got[who] = value;
  }
  void check() const { ASSERT_EQ(got[0] + got[1], 3); }

  std::unique_ptr<explored_channel> a;
  std::unique_ptr<explored_channel> b;
  std::array<int, 2> got{};
};

TEST(channel_interleavings, two_that_select_share_what_one_sends) {
  for (const std::size_t capacity : {0U, 1U}) {
    in_many_orders<crossing>(3, [capacity] { return crossing(capacity); });
  }
}

/// Each sends on one channel or receives from the other, whatever comes first: they meet in one.
struct exchange {
  bodies all() {
    return {[this] { meet(0, *a, *b); }, [this] { meet(1, *b, *a); }};
  }
  void meet(std::size_t who, explored_channel& to, explored_channel& from) {
    int mine = static_cast<int>(who) + 1;
    const std::array<explored_channel::choice, 2> both = {
        explored_channel::choice{&to, true, &mine},
        explored_channel::choice{&from, false, &got[who]}};
    const auto found = explored_channel::select(both.data(), both.size());
    ASSERT_EQ(found.how, waited::done);
    sent[who] = found.which == 0;
  }
  void check() const {
    ASSERT_NE(sent[0], sent[1]) << "one sends, the other receives";
    ASSERT_EQ(got[sent[0] ? 1 : 0], sent[0] ? 1 : 2);
    ASSERT_EQ(got[sent[0] ? 0 : 1], 0) << "nothing was written by the choice not taken";
  }

  std::unique_ptr<explored_channel> a = std::make_unique<explored_channel>(sizeof(int), 0);
  std::unique_ptr<explored_channel> b = std::make_unique<explored_channel>(sizeof(int), 0);
  std::array<int, 2> got{};
  std::array<bool, 2> sent{};
};

TEST(channel_interleavings, two_that_select_meet_in_one_choice) {
  in_many_orders<exchange>(3, [] { return exchange(); });
}

/// Both sides may give up at any moment: either both have done it or neither.
struct giving_up {
  bodies all() {
    return {[this] {
              const int value = 7;
              sent = c->send(&value, 1);
            },
            [this] {
              int value = 0;
              const std::array<explored_channel::choice, 2> both = {
                  explored_channel::choice{c.get(), false, &value},
                  explored_channel::choice{other.get(), false, &value}};
              received = explored_channel::select(both.data(), both.size(), 1).how;
              ASSERT_EQ(value, received == waited::done ? 7 : 0);
            }};
  }
  void check() const {
    ASSERT_EQ(sent, received);
    ASSERT_NE(sent, waited::closed);
    ++(sent == waited::done ? met : gave_up);
  }

  std::unique_ptr<explored_channel> c = std::make_unique<explored_channel>(sizeof(int), 0);
  std::unique_ptr<explored_channel> other = std::make_unique<explored_channel>(sizeof(int), 0);
  waited sent = waited::closed;
  waited received = waited::closed;
  static inline long met = 0;
  static inline long gave_up = 0;
};

TEST(channel_interleavings, who_gives_up_has_done_nothing) {
  in_many_orders<giving_up>(3, [] { return giving_up(); });
  EXPECT_GT(giving_up::met, 0);
  EXPECT_GT(giving_up::gave_up, 0);
}

/// Several send, receive and select by seed, some with a limit, until somebody closes all. What was
/// sent is received once, or still there.
class market {
 public:
  market(std::uint64_t seed, std::size_t threads) : threads_(threads) {
    random_generator random(seed);
    for (auto& each : channels_) {
      each = std::make_unique<explored_channel>(sizeof(std::uint32_t), random.below(3));
    }
    for (std::size_t t = 0; t < threads; ++t) {
      for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
        work_.push_back({t, random.below(6), random.below(2), random.with_probability(0.4)});
      }
    }
    logs_.resize(threads);
  }

  bodies all() {
    bodies made;
    for (std::size_t t = 0; t < threads_; ++t) {
      made.emplace_back([this, t] { run(t); });
    }
    made.emplace_back([this] {
      for (auto& each : channels_) {
        test::explorer::step();
        ASSERT_TRUE(each->close());
        ASSERT_FALSE(each->close());
      }
    });
    return made;
  }

  void check() {
    std::vector<std::uint32_t> sent;
    std::vector<std::uint32_t> received;
    for (const log& each : logs_) {
      sent.insert(sent.end(), each.sent.begin(), each.sent.end());
      received.insert(received.end(), each.received.begin(), each.received.end());
    }
    for (auto& each : channels_) {
      std::uint32_t value = 0;
      while (each->receive(&value, 0) == waited::done) {
        received.push_back(value);
      }
    }
    std::sort(sent.begin(), sent.end());
    std::sort(received.begin(), received.end());
    ASSERT_EQ(sent, received);
    ASSERT_EQ(std::adjacent_find(sent.begin(), sent.end()), sent.end()) << "the test's own values";
  }

 private:
  struct deed {
    std::size_t thread;
    std::uint64_t what;  ///< 0, 1: send; 2, 3: receive; 4: either; 5: receive from any
    std::uint64_t where;
    bool limited;
  };
  struct log {
    std::vector<std::uint32_t> sent;
    std::vector<std::uint32_t> received;
  };

  void run(std::size_t t) {
    std::uint32_t next = static_cast<std::uint32_t>(t) * 1000;
    for (const deed& d : work_) {
      if (d.thread == t) {
        carry_out(d, ++next, logs_[t]);
      }
    }
  }

  void carry_out(const deed& d, std::uint32_t value, log& to) {
    explored_channel& here = *channels_[d.where];
    explored_channel& there = *channels_[1 - d.where];
    const std::uint64_t limit = d.limited ? 1 : no_deadline;
    std::uint32_t got = 0;
    if (d.what < 2) {
      if (here.send(&value, limit) == waited::done) {
        to.sent.push_back(value);
      }
    } else if (d.what < 4) {
      if (here.receive(&got, limit) == waited::done) {
        to.received.push_back(got);
      }
    } else {
      const bool sends = d.what == 4;
      const std::array<explored_channel::choice, 2> both = {
          explored_channel::choice{&here, sends, sends ? &value : &got},
          explored_channel::choice{&there, false, &got}};
      const auto found = explored_channel::select(both.data(), both.size(), limit);
      if (found.how == waited::done && sends && found.which == 0) {
        to.sent.push_back(value);
      } else if (found.how == waited::done) {
        to.received.push_back(got);
      }
    }
  }

  std::size_t threads_;
  std::array<std::unique_ptr<explored_channel>, 2> channels_;
  std::vector<deed> work_;
  std::vector<log> logs_;
};

TEST(channel_interleavings, what_is_sent_is_received_once_in_orders_by_seed) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 500 * test::exploration_scale; ++i) {
    explored_waits::turn = static_cast<std::size_t>(i);
    market m(seed + i, 2 + i % 3);
    test::random_chooser some(seed + i, i % 2 == 0 ? 0.2 : 0.6);
    test::explorer::run(m.all(), some);
    m.check();
    ASSERT_FALSE(HasFailure()) << "scenario " << seed + i;
  }
}

using explored_shared_mutex = basic_shared_mutex<explored_waits>;

/// Threads with a list of turns each, as readers or writers, some with a limit.
class library {
 public:
  struct turn {
    bool writes;
    bool limited;
  };
  explicit library(std::vector<std::vector<turn>> work) : work_(std::move(work)) {}

  bodies all() {
    bodies made;
    for (const auto& each : work_) {
      made.emplace_back([this, &each] {
        for (const turn& t : each) {
          t.writes ? write(t) : read(t);
        }
      });
    }
    return made;
  }
  void check() {
    ASSERT_TRUE(lock_->try_lock()) << "it is free, and nobody is counted in";
    lock_->unlock();
    ASSERT_TRUE(lock_->try_lock_shared());
    lock_->unlock_shared();
  }
  static inline long together = 0;  ///< readers that were not alone
  static inline long gave_up = 0;

 private:
  void read(const turn& t) {
    if (!lock_->try_lock_shared_until(t.limited ? 1 : no_deadline)) {
      ++gave_up;
      return;
    }
    ++readers_;
    ASSERT_EQ(writers_, 0);
    test::explorer::step();
    ASSERT_EQ(writers_, 0);
    together += readers_ > 1 ? 1 : 0;
    --readers_;
    lock_->unlock_shared();
  }
  void write(const turn& t) {
    if (!lock_->try_lock_until(t.limited ? 1 : no_deadline)) {
      ++gave_up;
      return;
    }
    ++writers_;
    ASSERT_TRUE(writers_ == 1 && readers_ == 0);
    test::explorer::step();
    ASSERT_TRUE(writers_ == 1 && readers_ == 0);
    --writers_;
    lock_->unlock();
  }

  std::vector<std::vector<turn>> work_;
  std::unique_ptr<explored_shared_mutex> lock_ = std::make_unique<explored_shared_mutex>();
  int readers_ = 0;
  int writers_ = 0;
};

TEST(shared_mutex_interleavings, in_many_orders) {
  constexpr library::turn reads{false, false};
  constexpr library::turn writes{true, false};
  constexpr library::turn may_write{true, true};
  constexpr library::turn may_read{false, true};
  for (const auto& work :
       {std::vector<std::vector<library::turn>>{{reads}, {writes}, {reads}},
        std::vector<std::vector<library::turn>>{{writes}, {writes}, {reads}},
        std::vector<std::vector<library::turn>>{{reads}, {may_write}, {reads}},
        std::vector<std::vector<library::turn>>{{writes}, {may_read}, {may_write}}}) {
    in_many_orders<library>(3, [&work] { return library(work); });
  }
  EXPECT_GT(library::together, 0);
  EXPECT_GT(library::gave_up, 0);
}

TEST(shared_mutex_interleavings, in_orders_by_seed) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 500 * test::exploration_scale; ++i) {
    random_generator random(seed + i);
    std::vector<std::vector<library::turn>> work(3 + i % 2);
    for (auto& each : work) {
      for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
        each.push_back({random.with_probability(0.4), random.with_probability(0.3)});
      }
    }
    library one(work);
    test::random_chooser some(seed + i, i % 2 == 0 ? 0.2 : 0.6);
    test::explorer::run(one.all(), some);
    one.check();
    ASSERT_FALSE(HasFailure()) << "scenario " << seed + i;
  }
}

}  // namespace
}  // namespace sinew::fiber
