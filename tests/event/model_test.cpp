// SPDX-License-Identifier: BSD-3-Clause
// Random graphs of events over ranks whose messages come in any order, against a reference: what
// each event became must follow from its inputs, be the same for all ranks, and be told to each
// waiter once. SINEW_TEST_SEED repeats a run.
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "event_fixture.hpp"
#include "shuffled_fabric.hpp"
#include "sinew/base/random.hpp"

namespace sinew::event {
namespace {

struct watcher : waiter {
  int fired = 0;
  bool saw_poison = false;
};

struct node {
  enum class kind { user, merge, settled };
  kind what;
  event handle;
  std::vector<std::size_t> inputs;  ///< of a user event: its precondition
  bool given = false;               ///< a user event that was told to trigger
  bool bad = false;                 ///< poisoned by the program
};

class random_graph {
 public:
  random_graph(int ranks, std::uint64_t seed, std::uint32_t last_generation)
      : job_(ranks, seed, {1u << 14, last_generation}), random_(seed ^ 0x5eed) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
    }
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].what == node::kind::user && !nodes_[n].given) {
        give(n);
      }
    }
    drain();
    check();
  }

 private:
  system& any() { return *job_.systems[random_.below(job_.systems.size())]; }
  std::size_t old() { return random_.below(nodes_.size()); }

  void step() {
    const auto choice = random_.below(100);
    if (nodes_.size() < 4 || choice < 20) {
      nodes_.push_back({node::kind::user, any().create(), {}, false, false});
    } else if (choice < 40) {
      combine();
    } else if (choice < 55) {
      const std::size_t n = old();
      if (nodes_[n].what == node::kind::user && !nodes_[n].given) {
        give(n);
      }
    } else if (choice < 65) {
      watch();
    } else if (choice < 70) {
      (void)any().look(nodes_[old()].handle);
    } else if (choice < 72) {
      const std::size_t n = old();
      if (nodes_[n].handle.exists()) {
        cancelled_.insert(nodes_[n].handle);
        (void)any().cancel(nodes_[n].handle);
      }
    } else {
      job_.runtimes[random_.below(job_.runtimes.size())]->poll();
    }
  }

  void combine() {
    node made{random_.with_probability(0.7) ? node::kind::merge : node::kind::settled,
              {},
              {},
              false,
              false};
    if (random_.with_probability(0.3) && !last_inputs_.empty()) {
      made.inputs = last_inputs_;  // the same set again
    } else {
      const std::size_t count = 1 + random_.below(20);
      for (std::size_t i = 0; i < count; ++i) {
        made.inputs.push_back(old());
      }
    }
    last_inputs_ = made.inputs;
    std::vector<event> handles;
    for (const std::size_t i : made.inputs) {
      handles.push_back(nodes_[i].handle);
    }
    system& s = any();
    made.handle = made.what == node::kind::merge ? s.merge(handles) : s.settled(handles);
    nodes_.push_back(made);
  }

  /// Triggers user event n, on any rank: clean, poisoned, or after an older one.
  void give(std::size_t n) {
    node& it = nodes_[n];
    it.given = true;
    const user_event e{it.handle};
    if (random_.with_probability(0.1)) {
      it.bad = true;
      any().poison(e);
    } else if (n > 0 && random_.with_probability(0.4)) {
      it.inputs.push_back(random_.below(n));
      any().trigger(e, nodes_[it.inputs.front()].handle);
    } else {
      any().trigger(e);
    }
  }

  void watch() {
    const std::size_t n = old();
    watcher& w = watchers_.emplace_back();
    w.fire = [](waiter& self) noexcept {
      auto& it = static_cast<watcher&>(self);
      ++it.fired;
      it.saw_poison = it.poisoned;
    };
    const state now = any().subscribe(nodes_[n].handle, w);
    if (now != state::pending) {
      w.fired = 1;
      w.saw_poison = now == state::poisoned;
    }
    watched_.push_back(n);
  }

  void drain() {
    job_.settle();
    ASSERT_TRUE(job_.net.quiet());
  }

  void check() {
    std::vector<state> fates;
    for (const node& n : nodes_) {
      for (const auto& s : job_.systems) {
        (void)s->look(n.handle);
      }
      drain();
      const state fate = job_.systems[0]->look(n.handle);
      ASSERT_NE(fate, state::pending);
      for (const auto& s : job_.systems) {
        ASSERT_EQ(s->look(n.handle), fate);
      }
      fates.push_back(fate);
      bool expected = n.bad;
      for (const std::size_t i : n.inputs) {
        expected = expected || (n.what != node::kind::settled && fates[i] == state::poisoned);
      }
      // Who was cancelled may have been so in time or too late; poisoned is then never wrong.
      if (cancelled_.count(n.handle) == 0 || expected) {
        ASSERT_EQ(fate == state::poisoned, expected) << "event " << fates.size() - 1;
      }
    }
    for (std::size_t i = 0; i < watchers_.size(); ++i) {
      ASSERT_EQ(watchers_[i].fired, 1);
      ASSERT_EQ(watchers_[i].saw_poison, fates[watched_[i]] == state::poisoned);
    }
    for (const auto& s : job_.systems) {
      ASSERT_EQ(s->pending(), 0u);
    }
  }

  test::shuffled_job job_;
  random_generator random_;
  std::deque<node> nodes_;
  std::vector<std::size_t> last_inputs_;
  std::set<event> cancelled_;
  std::deque<watcher> watchers_;
  std::vector<std::size_t> watched_;
};

TEST(event_model, random_graphs_in_any_order_of_messages) {
  const std::uint64_t seed = seed_from_environment();
  const int rounds = slow_build ? 20 : 200;
  for (int round = 0; round < rounds; ++round) {
    const int ranks = 1 + round % 5;
    const std::uint32_t generations = round % 3 == 0 ? 3 : event::last_generation;
    SCOPED_TRACE("seed " + std::to_string(seed) + " round " + std::to_string(round));
    random_graph graph(ranks, seed + static_cast<std::uint64_t>(round), generations);
    graph.run(400);
    if (::testing::Test::HasFatalFailure()) {
      return;
    }
  }
}

// Poison is put in at each event of a graph in turn; all that depends on it must be poisoned.
TEST(event_model, poison_sweep) {
  constexpr int width = 12;
  for (int victim = 0; victim < width; ++victim) {
    test::shuffled_job job(3, static_cast<std::uint64_t>(victim) + 7);
    auto& systems = job.systems;
    std::vector<event> start;
    for (int i = 0; i < width; ++i) {
      start.push_back(systems[static_cast<std::size_t>(i % 3)]->create());
    }
    // Level by level each merges two neighbours of the level below, on another rank.
    std::vector<std::vector<event>> levels{start};
    for (std::size_t l = 1; l < width; ++l) {
      levels.emplace_back();
      for (std::size_t i = 0; i + l < width; ++i) {
        levels[l].push_back(systems[(i + l) % 3]->merge(levels[l - 1][i], levels[l - 1][i + 1]));
      }
    }
    for (int i = 0; i < width; ++i) {
      system& s = *systems[static_cast<std::size_t>((i + victim) % 3)];
      const user_event e{start[static_cast<std::size_t>(i)]};
      i == victim ? s.poison(e) : s.trigger(e);
    }
    job.settle();
    for (std::size_t l = 0; l < width; ++l) {
      for (std::size_t i = 0; i < levels[l].size(); ++i) {
        const auto v = static_cast<std::size_t>(victim);
        const bool reached = i <= v && v <= i + l;
        for (const auto& s : systems) {
          (void)s->look(levels[l][i]);
        }
        job.settle();
        for (const auto& s : systems) {
          EXPECT_EQ(s->look(levels[l][i]), reached ? state::poisoned : state::triggered);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sinew::event
