// SPDX-License-Identifier: BSD-3-Clause
// The places of rounds: all interleavings of a few members up to some preemptions, and many at
// random. A place is a word here; writing it while another member may still read it is a failure.
#include "sinew/node/rounds.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/random.hpp"
#include "support/explorer.hpp"

namespace sinew::node {
namespace {

using test::explorer;

/// What all members of a team share, with a step of the explorer before each access.
struct board {
  explicit board(int members)
      : words(static_cast<std::size_t>(members), std::vector<std::uint64_t>(rounds::places)),
        wider(static_cast<std::size_t>(members), std::vector<std::uint32_t>(rounds::places)) {}
  std::vector<std::vector<std::uint64_t>> words;  ///< by member and place: the stamp
  std::vector<std::vector<std::uint32_t>> wider;  ///< how many places more the writer takes
  bool torn = false;

  void write(int m, const round& r) {
    explorer::step();
    words[static_cast<std::size_t>(m)][rounds::place_of(r)] = r.stamp;
  }
  /// Waits until it, or a later one, is there.
  void come(int m, const round& r) {
    while (words[static_cast<std::size_t>(m)][rounds::place_of(r)] < r.stamp) {
      explorer::wait(0);
    }
  }
  /// Waits until it is there, then reads it once more, as who copies data out does.
  void read(int m, const round& r) {
    const std::uint64_t& word = words[static_cast<std::size_t>(m)][rounds::place_of(r)];
    while (word < r.stamp) {
      explorer::wait(0);
    }
    torn = torn || word != r.stamp;
    explorer::step();
    torn = torn || word != r.stamp;
  }
};

enum class kind { meeting, bcast, gather, wide };

void pass(board& b, int me, int members, rounds& mine) {
  b.write(me, mine.passing());
  const round awaited = mine.passed();
  for (int m = 0; m < members; ++m) {
    b.come(m, awaited);
  }
}

/// The root of each call: a root that stays the same may run far ahead.
enum class roots { one, in_turn };

/// One member: the same rounds as all others.
void take_part(board& b, int me, int members, const std::vector<kind>& calls, roots by) {
  rounds mine;
  std::vector<round> met;  // one, once there is one
  const auto meet = [&] {
    const round r = mine.next();
    b.write(me, r);
    for (int m = 0; m < members; ++m) {
      b.read(m, r);
    }
    mine.met();
    met = {r};
  };
  // What was posted in the last meeting may be read until this member comes to another one.
  const auto read_of_last = [&] {
    for (int m = 0; !met.empty() && m < members; ++m) {
      b.read(m, met.front());
    }
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const int root = by == roots::one ? 0 : static_cast<int>(i) % members;
    read_of_last();
    if (mine.must_pass()) {
      met.clear();
      pass(b, me, members, mine);
    }
    if (calls[i] == kind::meeting) {
      meet();
      continue;
    }
    const round r = mine.next();
    read_of_last();
    const bool from_root = calls[i] != kind::gather;
    const bool writes = from_root == (me == root);
    if (writes) {
      const std::uint32_t more =
          calls[i] == kind::wide ? std::min(mine.left(), rounds::depth / 2) : 0;
      b.wider[static_cast<std::size_t>(me)][rounds::place_of(r)] = more;
      b.write(me, r);
      mine.widen(more);
    } else if (from_root) {
      b.read(root, r);
      mine.widen(b.wider[static_cast<std::size_t>(root)][rounds::place_of(r)]);
    } else {
      for (int m = 0; m < members; ++m) {
        if (m != root) {
          b.read(m, r);
        }
      }
    }
  }
}

bool runs(int members, const std::vector<kind>& calls, test::chooser& who,
          roots by = roots::in_turn) {
  board b(members);
  std::vector<std::function<void()>> bodies;
  for (int m = 0; m < members; ++m) {
    bodies.emplace_back([&b, m, members, &calls, by] { take_part(b, m, members, calls, by); });
  }
  explorer::run(bodies, who);
  return !b.torn;
}

/// Two members, in all interleavings with so many preemptions.
void check_all(const std::vector<kind>& calls, int preemptions, roots by = roots::in_turn) {
  test::exhaustive_chooser all(preemptions);
  do {
    ASSERT_TRUE(runs(2, calls, all, by));
  } while (all.next());
}

TEST(rounds, meetings_free_the_places_of_the_round_before_last) {
  check_all(std::vector<kind>(5, kind::meeting), 2);
}

TEST(rounds, broadcasts_between_passings) {
  check_all(std::vector<kind>(2 * rounds::depth + 3, kind::bcast), 1);
}

TEST(rounds, few_wide_ones) { check_all(std::vector<kind>(6, kind::wide), 2); }

TEST(rounds, one_runs_ahead) {
  check_all(std::vector<kind>(4 * rounds::depth + 3, kind::bcast), 1, roots::one);
  check_all(std::vector<kind>(4 * rounds::depth + 3, kind::gather), 1, roots::one);
  check_all(std::vector<kind>(7, kind::wide), 1, roots::one);
}

TEST(rounds, meetings_and_passings_in_turn) {
  check_all({kind::wide, kind::wide, kind::meeting, kind::wide, kind::wide, kind::wide,
             kind::meeting, kind::wide},
            2);
}

TEST(rounds, any_calls_at_random) {
  const std::uint64_t seed = seed_from_environment();
  random_generator random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    const int members = 2 + static_cast<int>(random.below(3));
    std::vector<kind> calls(30 + random.below(120));
    for (kind& k : calls) {
      constexpr std::array kinds{kind::bcast, kind::gather, kind::bcast, kind::wide, kind::meeting};
      k = kinds[random.below(random.below(4) == 0 ? 5 : 3)];
    }
    test::random_chooser who(random.below(std::uint64_t{1} << 40), 0.2);
    const roots by = random.below(2) == 0 ? roots::one : roots::in_turn;
    ASSERT_TRUE(runs(members, calls, who, by)) << "trial " << trial;
  }
}

TEST(rounds, stamps_and_places) {
  rounds r;
  for (std::uint32_t i = 0; i < rounds::depth; ++i) {
    EXPECT_FALSE(r.must_pass());
    EXPECT_EQ(r.left(), rounds::depth - i);
    const round now = r.next();
    EXPECT_EQ(now.stamp, i + 1);
    EXPECT_EQ(rounds::place_of(now), i);
  }
  EXPECT_TRUE(r.must_pass());
  const round first = r.passing();
  EXPECT_EQ(rounds::place_of(first), rounds::depth);
  EXPECT_EQ(r.passed().stamp, first.stamp);  // nothing is known of the others yet
  EXPECT_EQ(rounds::place_of(r.next()), rounds::depth + 1);
  r.widen(6);
  EXPECT_EQ(rounds::place_of(r.next()), rounds::depth + 8);
  const round second = r.passing();
  EXPECT_EQ(r.passed().stamp, first.stamp);
  (void)r.next();
  r.met();
  const round third = r.passing();
  EXPECT_EQ(r.passed().stamp, third.stamp);  // others may still read what was posted in it
  EXPECT_GT(third.stamp, second.stamp);
}

}  // namespace
}  // namespace sinew::node
