// SPDX-License-Identifier: BSD-3-Clause
// Agreements of ranks on several hosts, each with memory of its own that a daemon writes.
#include "sinew/boot/survival.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sinew/boot/shared_memory.hpp"

namespace sinew::boot {
namespace {

constexpr int ranks = 4;
constexpr ballot first{7, 11, 1};

/// What the daemon of a host writes, and what a rank there sees.
struct host {
  descriptor memory = make_shared_memory("survival_test");
  survival daemon{memory.get(), ranks};
  std::vector<std::uint32_t> told;
  survival rank{memory.get(), ranks,
                [this](const ballot&, std::uint32_t flag, bool) { told.push_back(flag); }};

  [[nodiscard]] bool decided(decision& d) {
    const std::vector<job_rank> all = {0, 1, 2, 3};
    return rank.decided(first, all, all, d);
  }
};

TEST(survival, a_vote_is_told_and_counts_when_it_comes_back) {
  host h;
  h.rank.vote(first, 0, 5);
  EXPECT_EQ(h.told, std::vector<std::uint32_t>{5});
  decision d;
  EXPECT_FALSE(h.decided(d));
}

TEST(survival, hosts_decide_alike_whatever_happens_later) {
  host early;
  host late;
  const auto both = [&](auto what) {
    what(early.daemon);
    what(late.daemon);
  };
  decision d;
  // Rank 3 votes and dies; rank 2 dies without a vote; then the others vote.
  both([](survival& s) {
    s.note(3, {first, 6, 0, false});
    s.mark_dead(3);
    s.note(0, {first, 7, 1, false});
    s.mark_dead(2);
    s.note(1, {first, 14, 2, false});
  });
  ASSERT_TRUE(early.decided(d));
  EXPECT_EQ(d.deaths, 2U);
  EXPECT_EQ(d.flag, 6U);  // 7 and 14: that of a dead rank does not count
  // A host whose ranks look later sees one more death, and says the same.
  late.daemon.mark_dead(1);
  ASSERT_TRUE(late.decided(d));
  EXPECT_EQ(d.deaths, 2U);
  EXPECT_EQ(d.flag, 6U);
}

TEST(survival, a_death_completes_a_ballot) {
  host h;
  decision d;
  for (const int r : {0, 1, 2}) {
    h.daemon.note(job_rank{r}, {first, 3, 0, false});
  }
  EXPECT_FALSE(h.decided(d));
  h.daemon.mark_dead(3);
  ASSERT_TRUE(h.decided(d));
  EXPECT_EQ(d.deaths, 1U);
  EXPECT_EQ(d.flag, 3U);
}

TEST(survival, a_report_finds_where_a_rank_waits) {
  host h;
  EXPECT_EQ(h.rank.undecided_of(0).turn, 0);
  for (const int r : {0, 1, 2}) {
    h.daemon.note(job_rank{r}, {first, 3, 0, false});
  }
  EXPECT_TRUE(h.rank.has_voted(first, 0));
  EXPECT_FALSE(h.rank.has_voted(first, 3));
  const ballot waits = h.rank.undecided_of(0);
  EXPECT_EQ(waits.slot, first.slot);
  EXPECT_EQ(waits.key, first.key);
  EXPECT_EQ(waits.turn, first.turn);
  EXPECT_EQ(h.rank.undecided_of(3).turn, 0);
  h.daemon.note(3, {first, 3, 0, false});
  decision d;
  ASSERT_TRUE(h.decided(d));
  EXPECT_EQ(h.rank.undecided_of(0).turn, 0);
}

TEST(survival, a_ballot_is_over_when_all_that_live_have_left_it) {
  host h;
  const std::vector<job_rank> all = {0, 1, 2, 3};
  for (const int r : {0, 1, 2, 3}) {
    h.daemon.note(job_rank{r}, {first, 1, 0, false});
  }
  for (const int r : {0, 1, 2}) {
    EXPECT_FALSE(h.rank.is_over(first, all));
    h.daemon.note(job_rank{r}, {first, 0, 0, true});
  }
  EXPECT_FALSE(h.rank.is_over(first, all));
  h.daemon.mark_dead(3);
  EXPECT_TRUE(h.rank.is_over(first, all));
}

}  // namespace
}  // namespace sinew::boot
