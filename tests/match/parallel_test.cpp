// SPDX-License-Identifier: BSD-3-Clause
// The engine for several threads: what it answers is what one engine would have answered, in some
// order that respects real time; found by search over short histories of an explorer and of real
// threads. Then order under load, when it divides, and memory that is exhausted in between.
#include "sinew/match/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "match/test_lock.hpp"
#include "sinew/base/random.hpp"
#include "sinew/base/steps.hpp"
#include "support/explorer.hpp"
#include "support/history.hpp"

namespace sinew::match {
namespace {

using sinew::test::explored_steps;
using sinew::test::explorer;
using test::lock_of;
using test::refusing_lock;

enum class kind { post, arrive, peek, take, cancel, divide };

struct operation {
  kind what = kind::post;
  envelope e{};
  int id = 0;  ///< of its entry; of cancel: the post of the same thread that is meant
  // What happened, and when: numbers from one counter.
  int answer = -1;
  long begin = 0;
  long end = 0;
};

/// The rules themselves: everything in two lists, oldest first.
struct specification {
  struct entry {
    envelope e;
    int id;
    bool operator==(const entry&) const = default;
  };
  std::vector<entry> receives;
  std::vector<entry> messages;

  int apply(const operation& o) {
    switch (o.what) {
      case kind::post: {
        const int m = message_for(o.e, true);
        if (m < 0) {
          receives.push_back({o.e, o.id});
        }
        return m;
      }
      case kind::arrive: {
        const auto r = std::find_if(receives.begin(), receives.end(),
                                    [&](const entry& x) { return x.e.takes(o.e); });
        if (r == receives.end()) {
          messages.push_back({o.e, o.id});
          return -1;
        }
        const int id = r->id;
        receives.erase(r);
        return id;
      }
      case kind::peek:
      case kind::take:
        return message_for(o.e, o.what == kind::take);
      case kind::cancel:
        return std::erase_if(receives, [&](const entry& x) { return x.id == o.id; }) != 0 ? 1 : 0;
      case kind::divide:
        break;
    }
    return -1;
  }

  /// Receives that compete for no message have no order between them.
  [[nodiscard]] bool same(const specification& other) const {
    return messages == other.messages &&
           std::is_permutation(receives.begin(), receives.end(), other.receives.begin(),
                               other.receives.end());
  }

 private:
  int message_for(const envelope& wanted, bool remove) {
    const auto m = std::find_if(messages.begin(), messages.end(),
                                [&](const entry& x) { return wanted.takes(x.e); });
    if (m == messages.end()) {
      return -1;
    }
    const int id = m->id;
    if (remove) {
      messages.erase(m);
    }
    return id;
  }
};

struct scenario {
  std::vector<std::vector<operation>> plans;
  bool divided = false;  ///< at the beginning

  scenario(std::uint64_t seed, std::size_t threads, std::size_t operations) {
    random_generator random(seed);
    divided = random.with_probability(0.7);
    const int wildcards = static_cast<int>(random.below(3)) * 10;
    plans.resize(threads);
    int id = 0;
    for (auto& plan : plans) {
      std::vector<operation> posts;
      for (std::size_t i = 0; i < operations; ++i, ++id) {
        const std::uint64_t draw = random.below(16);
        operation o{draw < 6    ? kind::post
                    : draw < 11 ? kind::arrive
                    : draw < 12 ? kind::peek
                    : draw < 13 ? kind::take
                    : draw < 14 ? kind::cancel
                                : kind::divide,
                    {comm_rank::of_index(random.below(2)), message_tag::of_index(random.below(2))},
                    id};
        if (o.what == kind::cancel && posts.empty()) {
          o.what = kind::arrive;
        }
        if (o.what == kind::cancel) {
          o = {kind::cancel, posts.back().e, posts.back().id};
        }
        if (o.what == kind::post || o.what == kind::peek || o.what == kind::take) {
          if (random.below(100) < static_cast<std::uint64_t>(wildcards)) {
            o.e.source = any_source;
          }
          if (random.below(100) < static_cast<std::uint64_t>(wildcards)) {
            o.e.tag = any_tag;
          }
        }
        if (o.what == kind::post) {
          posts.push_back(o);
        }
        plan.push_back(o);
      }
    }
  }
};

template <class Steps>
class trial {
 public:
  explicit trial(const scenario& s) : plans_(s.plans), matcher_("hash") {
    const std::size_t all = plans_.size() * plans_[0].size();
    receives_.resize(all);
    messages_.resize(all);
    if (s.divided) {
      matcher_.divide();
    }
  }

  std::vector<std::function<void()>> bodies() {
    std::vector<std::function<void()>> made;
    for (auto& plan : plans_) {
      made.emplace_back([this, &plan] {
        for (operation& o : plan) {
          o.begin = clock_.fetch_add(1);
          o.answer = perform(o);
          o.end = clock_.fetch_add(1);
        }
      });
    }
    return made;
  }

  bool explained_by_some_order() {
    std::vector<operation> history;
    for (const auto& plan : plans_) {
      history.insert(history.end(), plan.begin(), plan.end());
    }
    struct listing {
      trial* self;
      specification last;
    } to{this, {}};
    const auto held = matcher_.gathered();
    held.all().each_receive(
        [](void* l, const receive& r) {
          auto& [self, last] = *static_cast<listing*>(l);
          last.receives.push_back({r.wanted, self->place(&r)});
        },
        &to);
    held.all().each_message(
        [](void* l, const message& m) {
          auto& [self, last] = *static_cast<listing*>(l);
          last.messages.push_back({m.sent, self->place(&m)});
        },
        &to);
    return sinew::test::explained(history, {}, to.last);
  }

 private:
  [[nodiscard]] int place(const receive* r) const {
    return r == nullptr ? -1 : static_cast<int>(r - receives_.data());
  }
  [[nodiscard]] int place(const message* m) const {
    return m == nullptr ? -1 : static_cast<int>(m - messages_.data());
  }

  int perform(const operation& o) {
    const auto id = static_cast<std::size_t>(o.id);
    switch (o.what) {
      case kind::post:
        receives_[id].wanted = o.e;
        return place(matcher_.enter(o.e).post(receives_[id]));
      case kind::arrive:
        messages_[id].sent = o.e;
        return place(matcher_.enter(o.e).arrive(messages_[id]));
      case kind::peek:
        return place(matcher_.enter(o.e).peek(o.e));
      case kind::take:
        return place(matcher_.enter(o.e).take(o.e));
      case kind::cancel:
        return matcher_.enter(o.e).cancel(receives_[id]) ? 1 : 0;
      case kind::divide:
        matcher_.divide();
        break;
    }
    return -1;
  }

  std::vector<std::vector<operation>> plans_;
  parallel_engine<lock_of<Steps>> matcher_;
  std::vector<receive> receives_;
  std::vector<message> messages_;
  std::atomic<long> clock_{0};
};

TEST(parallel_history, the_search_itself_finds_a_wrong_history) {
  operation wild{kind::post, {any_source, 1}, 0, -1, 0, 1};
  operation exact{kind::post, {0, 1}, 1, -1, 2, 3};
  operation arrival{kind::arrive, {0, 1}, 2, 1, 4, 5};
  specification last;
  last.receives.push_back({{any_source, 1}, 0});
  std::vector<operation> history{wild, exact, arrival};
  EXPECT_FALSE(sinew::test::explained(history, {}, last))
      << "the younger of two receives was matched";
  history[1].begin = 0;  // had they overlapped, it would be right
  EXPECT_TRUE(sinew::test::explained(history, {}, last));
}

TEST(parallel_history, every_interleaving_with_two_preemptions) {
  const std::uint64_t seed = seed_from_environment();
  long runs = 0;
  for (std::uint64_t i = 0; i < 4 * sinew::test::exploration_scale; ++i) {
    const scenario s(seed + i, 2, 3);
    sinew::test::exhaustive_chooser all(2);
    do {
      trial<explored_steps> t(s);
      explorer::run(t.bodies(), all);
      ASSERT_TRUE(t.explained_by_some_order()) << "scenario " << seed + i << ", run " << runs;
      ++runs;
    } while (all.next() && runs < 1000 * sinew::test::exploration_scale);
  }
  EXPECT_GT(runs, 100);
}

TEST(parallel_history, three_threads_in_orders_by_seed) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 400 * sinew::test::exploration_scale; ++i) {
    const scenario s(seed + i, 3, 4);
    trial<explored_steps> t(s);
    sinew::test::random_chooser some(seed + i, 0.2);
    explorer::run(t.bodies(), some);
    ASSERT_TRUE(t.explained_by_some_order()) << "scenario " << seed + i;
  }
}

void run_together(const std::vector<std::function<void()>>& bodies) {
  std::atomic<std::size_t> ready{0};
  std::vector<std::thread> threads;
  for (const auto& body : bodies) {
    threads.emplace_back([&ready, &bodies, body] {
      ++ready;
      while (ready.load() < bodies.size()) {
        std::this_thread::yield();
      }
      body();
    });
  }
  for (std::thread& one : threads) {
    one.join();
  }
}

TEST(parallel_history, real_threads) {
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 400 * sinew::test::exploration_scale; ++i) {
    const scenario s(seed + i, 3, 4);
    trial<real_steps> t(s);
    run_together(t.bodies());
    ASSERT_TRUE(t.explained_by_some_order()) << "scenario " << seed + i;
  }
}

// For each (source, tag) a thread that posts and one that brings the messages: the n-th meets the
// n-th, however often other threads gather (by probing with wildcards) and divide.
TEST(parallel_stress, pairs_meet_in_order) {
  using parallel = parallel_engine<lock_of<real_steps>>;
  constexpr int pairs = 3;
  constexpr int rounds = 3000 * sinew::test::exploration_scale;
  parallel matcher("hash");
  struct side {
    std::vector<receive> receives = std::vector<receive>(rounds);
    std::vector<message> messages = std::vector<message>(rounds);
  };
  std::vector<side> sides(pairs);
  std::vector<std::vector<int>> met(pairs, std::vector<int>(rounds, -1));
  std::atomic<int> posting{pairs};
  std::vector<std::function<void()>> bodies;
  for (int p = 0; p < pairs; ++p) {
    side& s = sides[static_cast<std::size_t>(p)];
    auto& found = met[static_cast<std::size_t>(p)];
    bodies.emplace_back([&, p] {
      for (std::size_t i = 0; i < rounds; ++i) {
        receive& r = s.receives[i];
        // Some may take a message of this source only through a wildcard: still in order, since
        // nobody else wants this tag.
        r.wanted = {i % 500 == 499 ? any_source : comm_rank{p % 2}, message_tag{p}};
        const message* m = matcher.enter(r.wanted).post(r);
        if (m != nullptr) {
          found[i] = static_cast<int>(m - s.messages.data());
        }
      }
      --posting;
    });
    bodies.emplace_back([&, p] {
      for (std::size_t i = 0; i < rounds; ++i) {
        message& m = s.messages[i];
        m.sent = {comm_rank{p % 2}, message_tag{p}};
        const receive* r = matcher.enter(m.sent).arrive(m);
        if (r != nullptr) {
          found[static_cast<std::size_t>(r - s.receives.data())] = static_cast<int>(i);
        }
      }
    });
  }
  bodies.emplace_back([&] {
    for (int i = 0; posting.load() != 0; ++i) {
      if (i % 8 == 0) {
        (void)matcher.enter({any_source, any_tag}).peek({any_source, any_tag});
      }
      matcher.divide();
      std::this_thread::yield();
    }
  });
  run_together(bodies);
  EXPECT_EQ(matcher.posted() + matcher.unexpected(), 0u);
  for (int p = 0; p < pairs; ++p) {
    for (int i = 0; i < rounds; ++i) {
      ASSERT_EQ(met[static_cast<std::size_t>(p)][static_cast<std::size_t>(i)], i) << "pair " << p;
    }
  }
}

using refusing = parallel_engine<refusing_lock>;

void call(refusing& matcher, int times) {
  for (int i = 0; i < times; ++i) {
    (void)matcher.enter({0, 1}).peek({0, 1});
  }
}

TEST(parallel_engine, divides_when_threads_have_waited_and_gathers_for_wildcards) {
  refusing matcher("hash");
  call(matcher, 5000);
  EXPECT_FALSE(matcher.divided()) << "nobody has waited";
  refusing_lock::refuses = true;
  call(matcher, 100);
  EXPECT_TRUE(matcher.divided());
  refusing_lock::refuses = false;

  receive wild{{any_source, 7}, {}};
  EXPECT_EQ(matcher.enter(wild.wanted).post(wild), nullptr);
  EXPECT_FALSE(matcher.divided());
  call(matcher, 5000);
  refusing_lock::refuses = true;
  call(matcher, 5000);
  EXPECT_FALSE(matcher.divided()) << "while a wildcard is posted";
  refusing_lock::refuses = false;
  message m{{3, 7}, {}};
  EXPECT_EQ(matcher.enter(m.sent).arrive(m), &wild);
  refusing_lock::refuses = true;
  call(matcher, 5000);
  EXPECT_TRUE(matcher.divided());
  refusing_lock::refuses = false;
}

TEST(parallel_engine, other_engines_are_never_divided) {
  refusing matcher("list");
  refusing_lock::refuses = true;
  call(matcher, 5000);
  refusing_lock::refuses = false;
  matcher.divide();
  EXPECT_FALSE(matcher.divided());
}

TEST(parallel_engine, counts_all_parts_and_engines_before) {
  refusing matcher("hash");
  matcher.divide();
  std::vector<receive> r(100);
  for (std::size_t i = 0; i < r.size(); ++i) {
    r[i].wanted = {0, message_tag::of_index(i)};
    EXPECT_EQ(matcher.enter(r[i].wanted).post(r[i]), nullptr);
  }
  EXPECT_EQ(matcher.posted(), 100u);
  EXPECT_EQ(matcher.counts().most_posted, 100u);
  EXPECT_GE(matcher.counts().searches, 100u);
  matcher.replace_by(make_engine("list"));
  EXPECT_EQ(matcher.name(), "list");
  EXPECT_EQ(matcher.posted(), 100u);
  EXPECT_GE(matcher.counts().searches, 100u);
}

}  // namespace
}  // namespace sinew::match
