// SPDX-License-Identifier: BSD-3-Clause
// Linearizability of the concurrent table: short histories of two or three threads over two keys,
// each checked by search against the sequential specification. The interleavings come from an
// explorer (exhaustively up to two preemptions, then by seed) and from real threads.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "match/table_core.hpp"
#include "sinew/base/random.hpp"
#include "sinew/base/steps.hpp"
#include "support/explorer.hpp"
#include "support/history.hpp"

namespace sinew::match {
namespace {

using test::explored_steps;
using test::explorer;

enum class kind { insert, take, peek, erase, trim };

struct operation {
  kind what = kind::insert;
  int key = 0;
  table_side side = table_side::send;
  void* value = nullptr;
  // What happened, and when: numbers from one counter.
  void* answer = nullptr;
  long begin = 0;
  long end = 0;
};

/// The sequential specification: one side per key, oldest first.
struct specification {
  struct waiting {
    table_side side;
    void* value;
    bool operator==(const waiting&) const = default;
  };
  std::map<int, std::deque<waiting>> keys;

  void* apply(const operation& o) {
    auto& queue = keys[o.key];
    const bool there = !queue.empty() && queue.front().side == o.side;
    void* answer = nullptr;
    switch (o.what) {
      case kind::insert:
        if (queue.empty() || there) {
          queue.push_back({o.side, o.value});
        } else {
          answer = queue.front().value;
          queue.pop_front();
        }
        break;
      case kind::take:
      case kind::peek:
        if (there) {
          answer = queue.front().value;
        }
        if (there && o.what == kind::take) {
          queue.pop_front();
        }
        break;
      case kind::erase:
        if (std::erase(queue, waiting{o.side, o.value}) > 0) {
          answer = o.value;
        }
        break;
      case kind::trim:
        break;
    }
    if (queue.empty()) {
      keys.erase(o.key);
    }
    return answer;
  }

  [[nodiscard]] bool same(const specification& other) const { return keys == other.keys; }
};

table_key key_of(int key) {
  return {context_id{static_cast<std::uint32_t>(key)}, comm_rank{key + 3}, message_tag{2 * key}};
}

void* value_of(std::size_t n) { return reinterpret_cast<void*>((n + 1) * 4); }

/// A plan of who does what, made from a seed.
struct scenario {
  std::vector<std::vector<operation>> plans;
  int fillers = 0;  // other keys stored before, so that lines spill and split
  int ballast = 0;  // more of them, taken out again: then trim has something to do
  std::uint64_t hash_seed = 0;

  scenario(std::uint64_t seed, std::size_t threads, std::size_t operations) {
    random_generator random(seed);
    fillers = static_cast<int>(random.below(10));
    if (random.with_probability(0.5)) {
      fillers = 0;
      ballast = 12;
    }
    hash_seed = random() | 1;
    plans.resize(threads);
    std::size_t values = 0;
    for (auto& plan : plans) {
      for (std::size_t i = 0; i < operations; ++i) {
        operation o;
        const std::uint64_t draw = random.below(16);
        o.what = draw < 10   ? kind::insert
                 : draw < 12 ? kind::take
                 : draw < 13 ? kind::peek
                 : draw < 15 ? kind::erase
                             : kind::trim;
        o.key = static_cast<int>(random.below(2));
        o.side = static_cast<table_side>(random.below(2));
        o.value = o.what == kind::erase ? value_of(random.below(values + 1)) : value_of(values++);
        plan.push_back(o);
      }
    }
  }
};

template <class Steps>
class trial {
 public:
  explicit trial(const scenario& s)
      : plans_(s.plans),
        core_(options(), table_hash{s.hash_seed, s.hash_seed * 3},
              base::join_membarrier(base::within::process)) {
    for (int i = 0; i < s.fillers + s.ballast; ++i) {
      (void)core_.insert(key_of(100 + i), table_side::send, value_of(1000));
    }
    for (int i = 0; i < s.ballast; ++i) {
      (void)core_.take(key_of(100 + i), table_side::send);
    }
  }

  void thread(std::size_t i) {
    for (operation& o : plans_[i]) {
      o.begin = clock_.fetch_add(1);
      o.answer = perform(o);
      o.end = clock_.fetch_add(1);
    }
  }

  /// Whether some order explains everything, what is stored in the end included.
  bool explained() {
    std::vector<operation> history;
    for (const auto& plan : plans_) {
      history.insert(history.end(), plan.begin(), plan.end());
    }
    specification last;
    core_.each([&](const table_key& key, table_side side, void* value) {
      const int k = static_cast<int>(key.context.value());
      if (k < 100) {
        last.keys[k].push_back({side, value});
      }
    });
    return sinew::test::explained(history, {}, last);
  }
  std::vector<std::function<void()>> bodies() {
    std::vector<std::function<void()>> made;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      made.emplace_back([this, i] { thread(i); });
    }
    return made;
  }

 private:
  static table_options options() { return {.first_lines = 2, .most_lines = 64, .most_cells = 64}; }

  void* perform(const operation& o) {
    switch (o.what) {
      case kind::insert:
        return core_.insert(key_of(o.key), o.side, o.value).partner;
      case kind::take:
        return core_.take(key_of(o.key), o.side);
      case kind::peek:
        return core_.peek(key_of(o.key), o.side);
      case kind::erase:
        return core_.erase(key_of(o.key), o.side, o.value) ? o.value : nullptr;
      case kind::trim:
        (void)core_.trim();
        return nullptr;
    }
    return nullptr;
  }

  std::vector<std::vector<operation>> plans_;
  table_core<Steps> core_;
  std::atomic<long> clock_{0};
};

TEST(table_history, the_search_itself_finds_a_wrong_history) {
  operation store{kind::insert, 0, table_side::send, value_of(0), nullptr, 0, 1};
  operation second{kind::insert, 0, table_side::send, value_of(1), nullptr, 2, 3};
  operation match{kind::insert, 0, table_side::receive, value_of(2), value_of(1), 4, 5};
  specification last;
  last.keys[0].push_back({table_side::send, value_of(0)});
  std::vector<operation> history{store, second, match};
  EXPECT_FALSE(sinew::test::explained(history, {}, last)) << "the younger of two was handed out";
  history[1].begin = 0;  // had they overlapped, it would be right
  EXPECT_TRUE(sinew::test::explained(history, {}, last));
  history[2].answer = value_of(2);
  EXPECT_FALSE(sinew::test::explained(history, {}, last));
}

TEST(table_history, every_interleaving_with_two_preemptions) {
  const std::uint64_t seed = seed_from_environment();
  long runs = 0;
  for (std::uint64_t i = 0; i < 2 * sinew::test::exploration_scale; ++i) {
    const scenario s(seed + i, 2, 2);
    test::exhaustive_chooser all(2);
    do {
      trial<explored_steps> t(s);
      explorer::run(t.bodies(), all);
      ASSERT_TRUE(t.explained()) << "scenario " << seed + i << ", run " << runs;
      ++runs;
    } while (all.next() && runs < 1500 * sinew::test::exploration_scale);
  }
  RecordProperty("runs", std::to_string(runs));
  EXPECT_GT(runs, 100);
}

TEST(table_history, a_second_user_comes_while_the_first_is_alone) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < (sinew::test::exploration_scale + 1) / 2; ++i) {
    scenario s(seed + i, 2, 2);
    s.fillers = s.ballast = 0;  // else the thread that stores them would be the first user
    for (auto& plan : s.plans) {
      for (operation& o : plan) {
        o.what = kind::insert;
      }
    }
    test::exhaustive_chooser all(3);
    long runs = 0;
    do {
      trial<explored_steps> t(s);
      explorer::run(t.bodies(), all);
      ASSERT_TRUE(t.explained()) << "scenario " << seed + i << ", run " << runs;
      ++runs;
    } while (all.next() && runs < 600 * sinew::test::exploration_scale);
  }
}

TEST(table_history, three_threads_in_orders_by_seed) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 400 * sinew::test::exploration_scale; ++i) {
    const scenario s(seed + i, 3, 3);
    trial<explored_steps> t(s);
    test::random_chooser some(seed + i, 0.2);
    explorer::run(t.bodies(), some);
    ASSERT_TRUE(t.explained()) << "scenario " << seed + i;
  }
}

TEST(table_history, real_threads) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 400 * sinew::test::exploration_scale; ++i) {
    const scenario s(seed + i, 3, 3);
    trial<real_steps> t(s);
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (const auto& body : t.bodies()) {
      threads.emplace_back([&ready, body] {
        ++ready;
        while (ready.load() < 3) {
          std::this_thread::yield();
        }
        body();
      });
    }
    for (std::thread& one : threads) {
      one.join();
    }
    ASSERT_TRUE(t.explained()) << "scenario " << seed + i;
  }
}

}  // namespace
}  // namespace sinew::match
