// SPDX-License-Identifier: BSD-3-Clause
// A worker and those who signal it, in all orders of their steps with few preemptions, and in many
// by seed: no signal is lost, whether the worker runs, is about to sleep, or sleeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "fiber/inbox.hpp"
#include "fiber/ready_set.hpp"
#include "sinew/base/random.hpp"
#include "support/explorer.hpp"

namespace sinew::fiber {
namespace {

using explored_inbox = inbox<test::explored_steps>;

constexpr std::uint32_t positions = 1U << 20U;
/// Of each level of the bitmaps: neighbours, the same word, other words.
constexpr std::array<std::uint32_t, 8> places = {0, 1, 70, 511, 512, 513, 40'000, 1'000'000};

/// The poller as scheduler.hpp promises it: wake() ends the sleep() under way, or else the next.
class bell {
 public:
  void wake() { rung_.store(true); }
  void sleep() {
    for (unsigned i = 0; !rung_.load(); ++i) {
      test::explorer::wait(i);
    }
    rung_.store(false);
  }

 private:
  std::atomic<bool> rung_{false};
};

/// What a signal is about is written before it and read after: the last value must arrive.
struct mail {
  std::uint32_t position;
  int value;
};

/// One worker, and others with a list of signals each. Every other sleep is in the poller.
class office {
 public:
  office(std::vector<std::vector<mail>> work) : work_(std::move(work)) {
    for (const auto& one : work_) {
      for (const mail& m : one) {
        expected_[m.position] = std::max(expected_[m.position], m.value);
      }
    }
    for (const auto& [position, value] : expected_) {
      written_[position].store(0);
    }
  }

  std::vector<std::function<void()>> bodies() {
    std::vector<std::function<void()>> all = {[this] { run_worker(); }};
    for (const auto& one : work_) {
      all.emplace_back([this, &one] { signal_all(one); });
    }
    return all;
  }
  [[nodiscard]] int sleeps() const { return sleeps_; }

 private:
  static void set_to_most(std::atomic<int>& word, int value) {
    int seen = word.load();
    while (seen < value && !word.compare_exchange_strong(seen, value)) {
    }
  }

  void signal_all(const std::vector<mail>& list) {
    for (const mail& m : list) {
      set_to_most(written_.at(m.position), m.value);
      inbox_.signals.set(m.position);
      const std::uint32_t was = inbox_.wake_up();
      if (was == explored_inbox::in_poller) {
        poller_.wake();
      }
    }
  }

  /// Runs what is ready, as worker::next() does; takes what came from elsewhere when that is none.
  void run_worker() {
    while (read_ != expected_) {
      if (!ready_.advance()) {
        const bool any = inbox_.signals.drain(
            signal_set<test::explored_steps>::levels_for(positions),
            [this](std::uint32_t index, std::uint64_t bits) { ready_.merge(index, bits); });
        if (!any) {
          sleep();
        }
        continue;
      }
      while (ready_.rest() != 0) {
        const std::uint32_t position = ready_.current_word() * 64 + ready_.take();
        ASSERT_TRUE(expected_.count(position) == 1) << "nobody signalled " << position;
        read_[position] = written_.at(position).load();
      }
    }
  }

  void sleep() {
    const bool polls = ++sleeps_ % 2 == 0;
    const std::uint32_t how = polls ? explored_inbox::in_poller : explored_inbox::on_futex;
    if (inbox_.lie_down(how, [] { return false; })) {
      if (polls) {
        poller_.sleep();
      } else {
        for (unsigned i = 0; inbox_.word().load() == how; ++i) {
          test::explorer::wait(i);
        }
      }
    }
    (void)inbox_.get_up();
  }

  std::vector<std::vector<mail>> work_;
  std::map<std::uint32_t, int> expected_;
  std::map<std::uint32_t, int> read_;
  std::map<std::uint32_t, std::atomic<int>> written_;
  explored_inbox inbox_{positions};
  ready_set ready_{positions};
  bell poller_;
  int sleeps_ = 0;
};

/// `others` lists of up to `most` signals to a few places, from a seed.
std::vector<std::vector<mail>> some_work(std::uint64_t seed, int others, std::uint64_t most) {
  random_generator random(seed);
  std::vector<std::vector<mail>> all(static_cast<std::size_t>(others));
  int value = 0;
  const std::uint64_t few = 1 + random.below(3);
  const std::uint64_t first = random.below(places.size());
  for (auto& one : all) {
    for (std::uint64_t n = 1 + random.below(most); n > 0; --n) {
      one.push_back({places[(first + random.below(few)) % places.size()], ++value});
    }
  }
  return all;
}

/// A signal lost leaves the worker asleep for ever: the explorer ends the program.
TEST(interleavings, two_signals_in_every_order_with_three_preemptions) {
  long runs = 0;
  int most_sleeps = 0;
  for (const std::uint32_t a : {0U, 512U, 40'000U}) {
    for (const std::uint32_t b : {a, a + 1, a + 64}) {
      test::exhaustive_chooser all(3);
      do {
        office o({{{a, 1}}, {{b, 2}}});
        test::explorer::run(o.bodies(), all);
        ASSERT_FALSE(HasFatalFailure());
        most_sleeps = std::max(most_sleeps, o.sleeps());
      } while (++runs % static_cast<long>(500 * test::exploration_scale) != 0 && all.next());
    }
  }
  EXPECT_GT(runs, 500);
  EXPECT_GE(most_sleeps, 2) << "the worker never slept between the two";
}

TEST(interleavings, one_sender_of_several_in_every_order_with_two_preemptions) {
  const std::uint64_t seed = seed_from_environment();
  long runs = 0;
  for (std::uint64_t i = 0; i < 10; ++i) {
    test::exhaustive_chooser all(2);
    do {
      office o(some_work(seed + i, 1, 4));
      test::explorer::run(o.bodies(), all);
      ASSERT_FALSE(HasFatalFailure()) << "scenario " << seed + i;
    } while (++runs % static_cast<long>(300 * test::exploration_scale) != 0 && all.next());
  }
  EXPECT_GT(runs, 100);
}

TEST(interleavings, three_senders_in_orders_by_seed) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 500 * test::exploration_scale; ++i) {
    office o(some_work(seed + i, 3, 5));
    test::random_chooser some(seed + i, i % 2 == 0 ? 0.2 : 0.6);
    test::explorer::run(o.bodies(), some);
    ASSERT_FALSE(HasFatalFailure()) << "scenario " << seed + i;
  }
}

}  // namespace
}  // namespace sinew::fiber
