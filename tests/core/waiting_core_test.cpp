// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait in one runtime, in all orders of their steps with few preemptions, and in many
// by seed: every wait ends whose message has come, one thread polls at a time, and nothing is left
// behind.
#include "core/waiting_core.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/wait_policy.hpp"
#include "sinew/base/random.hpp"
#include "sinew/core/completion.hpp"
#include "support/explorer.hpp"

namespace sinew::core {
namespace {

/// What happened in all runs of a test: each branch that matters has to be taken somewhere.
struct sightings {
  std::uint64_t doorbell = 0;  ///< sleeps of a leader
  std::uint64_t rings = 0;
  std::uint64_t parked = 0;   ///< sleeps until woken
  std::uint64_t monitor = 0;  ///< sleeps of a monitor
  std::uint64_t wakes = 0;
  std::uint64_t conflicts = 0;  ///< two leaders
  std::uint64_t served = 0;     ///< messages that the helper handled
  std::uint64_t helper_sleeps = 0;
  std::uint64_t barred = 0;
};
sightings seen;

struct explored_platform {
  class lock {
   public:
    void acquire() noexcept {
      test::explorer::step();
      for (unsigned i = 0; held_.exchange(true); ++i) {
        test::explorer::wait(i);
      }
    }
    void release() noexcept {
      held_.store(false);
      test::explorer::step();
    }

   private:
    std::atomic<bool> held_{false};
  };
  /// Few, so that runs are short.
  static constexpr wait_limits limits{.looks_in_crowd = 2,
                                      .patience_in_silence = 3,
                                      .long_patience = 2,
                                      .short_patience = 1,
                                      .least_turn = 2,
                                      .looks_per_reading = 2,
                                      .looks_per_reading_crowded = 1};
  static void step() { test::explorer::step(); }
  static void pause() { test::explorer::wait(0); }
  static void yield() { test::explorer::wait(0); }
  /// A sleep with a time limit may end at any moment, one without only if somebody wakes it.
  template <class Nap>
  static void sleep(const std::atomic<std::uint32_t>& word, Nap how) {
    if (how != Nap::until_woken) {
      ++seen.monitor;
      test::explorer::wait(0);
      return;
    }
    ++seen.parked;
    for (unsigned i = 0; word.load() == 0; ++i) {
      test::explorer::wait(i);
    }
  }
  static void wake(const std::atomic<std::uint32_t>& /*word*/) {
    ++seen.wakes;
    test::explorer::step();
  }
};

using explored_waiting = waiting_core<explored_platform>;

/// Threads of one rank, their operations, and a network that ends them when it is polled.
class rank_of_threads {
 public:
  rank_of_threads(int processors, bool crowded, std::size_t operations)
      : waiting_(processors, crowded, explored_platform::limits), operations_(operations) {}

  class edge {
   public:
    explicit edge(rank_of_threads& in) : in_(in) {}
    int poll() { return in_.poll(); }
    void look_for_others() { test::explorer::step(); }
    void sleep(std::uint64_t /*since*/) {
      ++seen.doorbell;
      in_.sleep_on_doorbell();
    }
    void ring() {
      ++seen.rings;
      in_.rung_ = true;
      test::explorer::step();
    }
    std::uint64_t now_ns() { return in_.now_ += 1000; }
    [[nodiscard]] silence_limits limits() const { return {1, 2}; }

   private:
    rank_of_threads& in_;
  };

  /// As the rank's helper, until end_helper().
  void help() {
    struct helper_edge {
      rank_of_threads& in;
      bool nap(bool /*quiet*/) {
        test::explorer::wait(0);
        return !in.helper_ends_;
      }
      int poll() {
        EXPECT_FALSE(in.barred_);
        const int come = in.poll();
        seen.served += static_cast<std::uint64_t>(come);
        return come;
      }
      void sleep() {
        ++seen.helper_sleeps;
        in.sleep_on_doorbell();
      }
    } here{*this};
    waiting_.help(here);
    EXPECT_TRUE(helper_ends_);
  }
  void let_help() { waiting_.unbar(); }
  /// In between, the helper must not poll.
  void bar_for_a_while() {
    edge here(*this);
    waiting_.bar(here);
    ++seen.barred;
    barred_ = true;
    test::explorer::wait(0);
    test::explorer::wait(0);
    barred_ = false;
    waiting_.unbar();
  }
  void end_helper() {
    edge here(*this);
    waiting_.bar(here);
    helper_ends_ = true;
  }
  /// As a program that computes: it only looks.
  void compute_until(std::size_t which) {
    for (unsigned i = 0; !operations_[which].done(); ++i) {
      test::explorer::wait(i);
    }
  }

  /// Another rank sends what ends operation `which`.
  void send(std::size_t which) {
    test::explorer::step();
    arriving_.push_back(which);
    test::explorer::step();
  }
  void wait(std::size_t which) {
    edge here(*this);
    if (!operations_[which].done()) {
      waiting_.wait(operations_[which], here);
    }
    EXPECT_TRUE(operations_[which].done());
  }
  /// As a program that tests until its operation has ended.
  void test_until(std::size_t which) {
    while (!operations_[which].done()) {
      edge here(*this);
      waiting_.note_poll();
      if (explored_waiting::lead mine; mine.take(waiting_)) {
        (void)poll();
      } else {
        waiting_.evict(here);
      }
      test::explorer::wait(0);
    }
  }
  void expect_the_end() const {
    EXPECT_TRUE(waiting_.at_rest());
    EXPECT_TRUE(arriving_.empty());
    for (const completion& c : operations_) {
      EXPECT_TRUE(c.done());
    }
  }

 private:
  /// A ring before it counts, too: the next sleep returns at once.
  void sleep_on_doorbell() {
    for (unsigned i = 0; arriving_.empty() && !rung_; ++i) {
      test::explorer::wait(i);
    }
    rung_ = false;
  }
  int poll() {
    seen.conflicts += std::exchange(polling_, true) ? 1 : 0;
    test::explorer::step();
    const std::vector<std::size_t> come = std::exchange(arriving_, {});
    for (const std::size_t which : come) {
      test::explorer::step();
      operations_[which].complete();
    }
    polling_ = false;
    return static_cast<int>(come.size());
  }

  explored_waiting waiting_;
  std::vector<completion> operations_;
  std::vector<std::size_t> arriving_;
  bool polling_ = false;
  bool rung_ = false;
  bool helper_ends_ = false;
  bool barred_ = false;
  std::uint64_t now_ = 0;
};

using bodies = std::vector<std::function<void()>>;

/// Thread t sends to its neighbour and waits for its own message, some times. Its operations are
/// t, t + threads, and so on.
bodies ring_of(rank_of_threads& rank, std::size_t threads, std::size_t rounds) {
  bodies all;
  for (std::size_t t = 0; t < threads; ++t) {
    all.emplace_back([&rank, t, threads, rounds] {
      for (std::size_t r = 0; r < rounds; ++r) {
        rank.send(r * threads + (t + 1) % threads);
        rank.wait(r * threads + t);
      }
    });
  }
  return all;
}

/// Threads that wait for one operation each, one that tests for its own, and one that sends them
/// all, in an order and with pauses that `random` chooses.
bodies fed_by_one(rank_of_threads& rank, std::size_t waiters, random_generator& random) {
  bodies all;
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < waiters; ++t) {
    all.emplace_back([&rank, t] { rank.wait(t); });
    order.push_back(t);
  }
  all.emplace_back([&rank, waiters] { rank.test_until(waiters); });
  order.push_back(waiters);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
  std::vector<unsigned> pauses;
  for (std::size_t i = 0; i < order.size(); ++i) {
    pauses.push_back(static_cast<unsigned>(random.below(3) * random.below(20)));
  }
  all.emplace_back([&rank, order, pauses] {
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (unsigned k = 0; k < pauses[i]; ++k) {
        test::explorer::wait(k);
      }
      rank.send(order[i]);
    }
  });
  return all;
}

TEST(waiting_core, all_orders_with_few_preemptions) {
  seen = {};
  std::uint64_t runs = 0;
  for (const int processors : {1, 2}) {
    for (const bool crowded : {false, true}) {
      test::exhaustive_chooser who(test::exploration_scale == 1 ? 1 : 2);
      do {
        rank_of_threads rank(processors, crowded, 4);
        test::explorer::run(ring_of(rank, 2, 2), who);
        rank.expect_the_end();
        ++runs;
      } while (!HasFailure() && who.next());
    }
  }
  EXPECT_EQ(seen.conflicts, 0u);
  EXPECT_GT(runs, 100 * test::exploration_scale);
  EXPECT_GT(seen.parked + seen.monitor, 0u);
  RecordProperty("runs", std::to_string(runs));
}

/// Adds to threads of the program a helper, which ends when they have; and one that computes until
/// operation `served` is done, which another one sends before it bars the helper for a while.
bodies with_helper(rank_of_threads& rank, const bodies& program, std::size_t served) {
  bodies all = program;
  all.emplace_back([&rank, served] { rank.compute_until(served); });
  all.emplace_back([&rank, served] {
    rank.send(served);
    rank.bar_for_a_while();
  });
  const auto running = std::make_shared<std::size_t>(all.size());
  for (auto& each : all) {
    each = [&rank, running, body = each] {
      body();
      if (--*running == 0) {
        rank.end_helper();
      }
    };
  }
  all.emplace_back([&rank] {
    rank.let_help();
    rank.help();
  });
  return all;
}

/// One job of threads, and one order of their steps.
void run_order(std::uint64_t seed) {
  SCOPED_TRACE("SINEW_TEST_SEED=" + std::to_string(seed));
  random_generator random(seed);
  const int processors = 1 + static_cast<int>(random.below(3));
  const bool crowded = random.below(2) == 0;
  test::random_chooser who(seed, 0.02 + 0.3 * static_cast<double>(random.below(3)));
  const std::size_t threads = 2 + random.below(3);
  if (random.below(2) == 0) {
    const std::size_t rounds = 1 + random.below(4);
    rank_of_threads rank(processors, crowded, threads * rounds);
    test::explorer::run(ring_of(rank, threads, rounds), who);
    rank.expect_the_end();
  } else {
    rank_of_threads rank(processors, crowded, threads + 1);
    test::explorer::run(fed_by_one(rank, threads, random), who);
    rank.expect_the_end();
  }
}

TEST(waiting_core, orders_by_seed) {
  seen = {};
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 400 * test::exploration_scale && !HasFailure(); ++i) {
    run_order(seed + i);
  }
  EXPECT_EQ(seen.conflicts, 0u);
  EXPECT_GT(seen.doorbell, 100u);
  EXPECT_GT(seen.rings, 0u);  // rare: of some seeds no more than ten
  EXPECT_GT(seen.parked, 100u);
  EXPECT_GT(seen.monitor, 100u);
  EXPECT_GT(seen.wakes, 100u);
}

// The look with which a thread's patience ended put another one off; the leader slept nevertheless.
TEST(waiting_core, a_leader_does_not_sleep_before_one_whom_it_has_just_put_off) {
  run_order(1752635676);
}

TEST(waiting_core, with_a_helper_orders_by_seed) {
  seen = {};
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 300 * test::exploration_scale && !HasFailure(); ++i) {
    SCOPED_TRACE("SINEW_TEST_SEED=" + std::to_string(seed + i));
    random_generator random(seed + i);
    test::random_chooser who(seed + i, 0.02 + 0.3 * static_cast<double>(random.below(3)));
    const std::size_t threads = 1 + random.below(3);
    const std::size_t rounds = 1 + random.below(4);
    const bool in_ring = random.below(2) == 0;
    const std::size_t operations = in_ring ? threads * rounds : threads + 1;
    rank_of_threads rank(1 + static_cast<int>(random.below(3)), random.below(2) == 0,
                         operations + 1);
    const bodies program =
        in_ring ? ring_of(rank, threads, rounds) : fed_by_one(rank, threads, random);
    test::explorer::run(with_helper(rank, program, operations), who);
    rank.expect_the_end();
  }
  EXPECT_EQ(seen.conflicts, 0u);
  EXPECT_GT(seen.served, 20u);
  EXPECT_GT(seen.helper_sleeps, 100u);
  EXPECT_GT(seen.barred, 100u);
  EXPECT_GT(seen.rings, 0u);  // rare: of some seeds no more than ten
}

TEST(waiting_core, the_helper_begins_barred_and_gives_way_to_who_comes) {
  struct bell {
    int rings = 0;
    void ring() { ++rings; }
  } out;
  explored_waiting waiting(1, false, explored_platform::limits);
  waiting.evict(out);
  EXPECT_EQ(out.rings, 0);
  struct edge {
    explored_waiting& in;
    int naps = 0;
    int polls = 0;
    int sleeps = 0;
    bell inner{};
    bool nap(bool quiet) {
      EXPECT_EQ(quiet, naps >= 2) << naps;
      if (naps == 1) {
        in.unbar();
      }
      return ++naps < 4;
    }
    int poll() {
      EXPECT_FALSE(explored_waiting::lead(in)) << "it leads";
      return ++polls == 1 ? 1 : 0;
    }
    void sleep() {
      ++sleeps;
      in.evict(inner);
    }
  } here{waiting};
  waiting.help(here);
  EXPECT_EQ(here.polls, 3) << "twice, and one message came";
  EXPECT_EQ(here.sleeps, 2);
  EXPECT_EQ(here.inner.rings, 2);
  EXPECT_TRUE(waiting.at_rest());
}

TEST(waiting_core, a_lead_is_given_back) {
  explored_waiting waiting(1, false, explored_platform::limits);
  {
    const explored_waiting::lead first(waiting);
    EXPECT_TRUE(first);
    EXPECT_FALSE(explored_waiting::lead(waiting));
    EXPECT_FALSE(waiting.at_rest());
  }
  EXPECT_TRUE(waiting.at_rest());
  EXPECT_TRUE(explored_waiting::lead(waiting));
}

// --- the state machine of one wait ---

struct still_clock {
  std::uint64_t now = 0;
  int readings = 0;
  silence_limits most{20, 2020};
  std::uint64_t now_ns() {
    ++readings;
    return now;
  }
  [[nodiscard]] silence_limits limits() const { return most; }
};

constexpr wait_limits usual{};

TEST(idle_pace, looks_then_yields_then_rests_and_reads_the_clock_seldom) {
  still_clock clock;
  idle_pace pace(usual, false);
  for (std::uint32_t i = 0; i < 10 * usual.looks_per_reading; ++i) {
    EXPECT_EQ(pace.quiet(clock), wait_order::look);
  }
  EXPECT_EQ(clock.readings, 10);
  const auto next = [&] {
    wait_order order = wait_order::look;
    for (const int before = clock.readings; clock.readings == before;) {
      order = pace.quiet(clock);
    }
    return order;
  };
  clock.now = 19'999;
  EXPECT_EQ(next(), wait_order::look);
  clock.now = 20'000;
  EXPECT_EQ(next(), wait_order::yield);
  clock.now = 2'020'000;
  EXPECT_EQ(next(), wait_order::rest);
  pace.busy();
  EXPECT_EQ(next(), wait_order::look) << "silence begins anew";
}

TEST(idle_pace, crowded_reads_the_clock_at_each_look) {
  still_clock clock;
  clock.most = {0, 100};
  idle_pace pace(usual, true);
  for (std::uint32_t i = 1; i < usual.looks_per_reading_crowded; ++i) {
    EXPECT_EQ(pace.quiet(clock), wait_order::look);
  }
  EXPECT_EQ(pace.quiet(clock), wait_order::yield);
  EXPECT_EQ(pace.quiet(clock), wait_order::yield);
  EXPECT_EQ(clock.readings, 2);
}

TEST(wait_policy, at_the_end_of_a_turn_hands_over_once_if_others_are_ready) {
  wait_policy over(usual, 1, true, false);
  EXPECT_EQ(over.begin(true), wait_order::park);
  EXPECT_EQ(over.begin(true), wait_order::look) << "it has handed over";
  wait_policy alone(usual, 1, true, false);
  EXPECT_EQ(alone.begin(false), wait_order::look);
  wait_policy within(usual, 1, false, false);
  EXPECT_EQ(within.begin(true), wait_order::look);
}

TEST(wait_policy, in_a_crowd_parks_after_some_looks_whatever_happens) {
  still_clock clock;
  wait_policy policy(usual, 1, false, false);
  for (std::uint32_t i = 0; i < usual.looks_in_crowd; ++i) {
    EXPECT_EQ(policy.begin(false), wait_order::look);
    EXPECT_EQ(policy.looked({3, 2, 0, true, true}, clock), wait_order::look);
  }
  EXPECT_EQ(policy.looked({3, 2, 0, true, false}, clock), wait_order::rest);
  EXPECT_EQ(policy.rest(true, 3, false), wait_order::park);
  EXPECT_EQ(clock.readings, 0);
  wait_policy follower(usual, 1, false, false);
  EXPECT_EQ(follower.begin(false), wait_order::look);
  EXPECT_EQ(follower.looked({2, 1, 0, false, false}, clock), wait_order::rest)
      << "on one processor it only keeps the leader from polling";
}

TEST(wait_policy, patience_with_those_put_off_depends_on_whether_anything_has_come) {
  std::uint32_t longs = 0;
  for (std::uint32_t number = 0; number < 1000; ++number) {
    still_clock clock;
    wait_policy policy(usual, number, false, false);
    (void)policy.begin(true);
    (void)policy.looked({1, 1, 7, true, true}, clock);
    EXPECT_EQ(policy.patience(7), usual.patience_in_silence);
    longs += policy.patience(8) == usual.long_patience ? 1 : 0;
    wait_policy crowded(usual, number, false, true);
    EXPECT_EQ(crowded.patience(0), usual.short_patience);
  }
  EXPECT_GT(longs, 400u);
  EXPECT_LT(longs, 600u);
}

TEST(wait_policy, only_the_leader_that_is_alone_awake_sleeps_and_not_while_others_are_ready) {
  wait_policy policy(usual, 1, false, false);
  (void)policy.begin(false);
  EXPECT_EQ(policy.rest(true, 1, false), wait_order::sleep);
  EXPECT_EQ(policy.rest(false, 1, false), wait_order::park);
  EXPECT_EQ(policy.rest(true, 2, false), wait_order::park);
  EXPECT_EQ(policy.rest(true, 1, true), wait_order::park);
}

}  // namespace
}  // namespace sinew::core
