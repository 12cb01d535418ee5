// The places of rounds: all interleavings of a few members up to some preemptions, and many at
// random. A place is a word here; writing it while another member may still read it is a failure.
#include "sinew/node/rounds.hpp"

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
      : words(static_cast<std::size_t>(members), std::vector<std::uint64_t>(rounds::places)) {}
  std::vector<std::vector<std::uint64_t>> words;  ///< by member and place: the stamp
  bool torn = false;

  void write(int m, const round& r) {
    explorer::step();
    words[static_cast<std::size_t>(m)][rounds::place_of(r)] = r.stamp;
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

enum class kind { meeting, bcast, gather };

/// One member: the same rounds as all others.
void take_part(board& b, int me, int members, const std::vector<kind>& calls) {
  rounds mine;
  const auto meet = [&] {
    const round r = mine.next();
    b.write(me, r);
    for (int m = 0; m < members; ++m) {
      b.read(m, r);
    }
    mine.met();
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const int root = static_cast<int>(i) % members;
    if (calls[i] == kind::meeting) {
      meet();
      continue;
    }
    if (mine.must_meet()) {
      meet();
    }
    const round r = mine.next();
    const bool writes = (calls[i] == kind::bcast) == (me == root);
    if (writes) {
      b.write(me, r);
    } else if (calls[i] == kind::bcast) {
      b.read(root, r);
    } else {
      for (int m = 0; m < members; ++m) {
        if (m != root) {
          b.read(m, r);
        }
      }
    }
  }
}

bool runs(int members, const std::vector<kind>& calls, test::chooser& who) {
  board b(members);
  std::vector<std::function<void()>> bodies;
  for (int m = 0; m < members; ++m) {
    bodies.emplace_back([&b, m, members, &calls] { take_part(b, m, members, calls); });
  }
  explorer::run(bodies, who);
  return !b.torn;
}

TEST(rounds, meetings_free_the_places_of_the_round_before_last) {
  const std::vector<kind> calls(5, kind::meeting);
  test::exhaustive_chooser all(2);
  do {
    ASSERT_TRUE(runs(2, calls, all));
  } while (all.next());
}

TEST(rounds, broadcasts_between_meetings) {
  std::vector<kind> calls(2 * rounds::depth + 3, kind::bcast);
  test::exhaustive_chooser all(1);
  do {
    ASSERT_TRUE(runs(2, calls, all));
  } while (all.next());
}

TEST(rounds, any_calls_at_random) {
  const std::uint64_t seed = seed_from_environment();
  random_generator random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    const int members = 2 + static_cast<int>(random.below(3));
    std::vector<kind> calls(30 + random.below(120));
    for (kind& k : calls) {
      constexpr std::array kinds{kind::bcast, kind::gather, kind::bcast, kind::meeting};
      k = kinds[random.below(random.below(4) == 0 ? 4 : 3)];
    }
    test::random_chooser who(random.below(std::uint64_t{1} << 40), 0.2);
    ASSERT_TRUE(runs(members, calls, who)) << "trial " << trial;
  }
}

TEST(rounds, stamps_and_places) {
  rounds r;
  for (std::uint32_t i = 0; i < rounds::depth; ++i) {
    EXPECT_FALSE(r.must_meet());
    const round now = r.next();
    EXPECT_EQ(now.stamp, i + 1);
    EXPECT_EQ(rounds::place_of(now), i);
  }
  EXPECT_TRUE(r.must_meet());
  EXPECT_EQ(rounds::place_of(r.next()), rounds::depth);
  r.met();
  EXPECT_EQ(rounds::place_of(r.next()), rounds::depth + 1);
}

}  // namespace
}  // namespace sinew::node
