// SPDX-License-Identifier: BSD-3-Clause
// The module's small tables: kept blocks, unfinished instances, operators, failed batches.
#include <set>

#include "fixture.hpp"
#include "region/failed_batches.hpp"
#include "region/kept_blocks.hpp"
#include "region/operator_table.hpp"
#include "region/unfinished.hpp"

namespace sinew::region {
namespace {

constexpr std::size_t KiB = 1024;

TEST(KeptBlocks, TheSmallestThatFitsAndIsNotHalfWasted) {
  kept_blocks kept;
  for (const std::size_t size : {64u, 32u, 100u}) {
    EXPECT_TRUE(kept.keep({size * KiB, size * KiB}, 1 << 30));
  }
  EXPECT_FALSE(kept.keep({1, kept_blocks::least_bytes - 1}, 1 << 30)) << "too small to keep";
  EXPECT_EQ(kept.bytes(), 196 * KiB);
  EXPECT_EQ(kept.take(15 * KiB).offset, 0u) << "it would waste more than half";
  EXPECT_EQ(kept.take(33 * KiB).bytes, 64 * KiB);
  EXPECT_EQ(kept.take(33 * KiB).offset, 0u);
  EXPECT_EQ(kept.take(32 * KiB).bytes, 32 * KiB);
  EXPECT_EQ(kept.take(101 * KiB).offset, 0u);
  EXPECT_EQ(kept.drain().size(), 1u);
  EXPECT_EQ(kept.bytes(), 0u);
  EXPECT_EQ(kept.take(100 * KiB).offset, 0u);
}

TEST(KeptBlocks, NoMoreThanTheLimits) {
  kept_blocks kept;
  EXPECT_FALSE(kept.keep({1, 64 * KiB}, 0));
  EXPECT_TRUE(kept.keep({1, 64 * KiB}, 100 * KiB));
  EXPECT_FALSE(kept.keep({2, 64 * KiB}, 100 * KiB));
  EXPECT_TRUE(kept.keep({2, 36 * KiB}, 100 * KiB));
  kept_blocks many;
  for (std::size_t i = 0; i < kept_blocks::most_blocks; ++i) {
    EXPECT_TRUE(many.keep({i + 1, 64 * KiB}, 1 << 30));
  }
  EXPECT_FALSE(many.keep({1000, 64 * KiB}, 1 << 30));
}

TEST(Unfinished, TheLastAnswerEndsIt) {
  unfinished all(true);
  const instance i(0, 1, 2);
  const user_event ready(event::from_bits(99));
  all.begin(i, 3, ready);
  EXPECT_FALSE(all.part_answered(i, true).ready.has_value());
  EXPECT_FALSE(all.part_answered(i, true).ready.has_value());
  EXPECT_FALSE(all.all_asked(i).ready.has_value());
  EXPECT_FALSE(all.begun(i, user_event(event::from_bits(98)), false).ready.has_value());
  EXPECT_FALSE(all.begun(i, ready, true).ready.has_value());
  EXPECT_EQ(all.size(), 1u);
  const unfinished::step last = all.part_answered(i, true);
  EXPECT_EQ(last.ready, ready);
  EXPECT_FALSE(last.failed || last.withdraw);
  EXPECT_EQ(all.size(), 0u);
}

TEST(Unfinished, WhatHasFailedWaitsForAnswersOnly) {
  unfinished all(true);
  const instance i(0, 1, 2);
  const user_event ready(event::from_bits(99));
  all.begin(i, 2, ready);
  EXPECT_FALSE(all.part_answered(i, false).withdraw) << "the other part has not been asked for";
  EXPECT_TRUE(all.all_asked(i).withdraw);
  EXPECT_FALSE(all.part_answered(i, false).ready.has_value()) << "owners are still being told";
  const unfinished::step last = all.withdrawn(i);
  EXPECT_EQ(last.ready, ready) << "it waits for the event before";
  EXPECT_TRUE(last.failed && !last.withdraw);
  EXPECT_FALSE(all.begun(i, ready, true).ready.has_value());

  all.begin(i, 1, ready);
  EXPECT_FALSE(all.all_asked(i).withdraw);
  EXPECT_TRUE(all.begun(i, ready, false).withdraw) << "the event before was poisoned";
  EXPECT_FALSE(all.withdrawn(i).ready.has_value());
  EXPECT_TRUE(all.part_answered(i, false).failed);
  EXPECT_EQ(all.size(), 0u);
}

TEST(OperatorTable, KnowsWhatWasAdded) {
  operator_table all(4, true);
  require_in(refusal([&] { (void)all.find(entry_of<sum<int>>().id); }), "not known on rank 4");
  all.add(entry_of<sum<int>>());
  const operator_entry& first = all.find(entry_of<sum<int>>().id);
  for (int i = 0; i < 2; ++i) {
    all.add(entry_of<sum<int>>());
    all.add(entry_of<maximum<double>>());
    all.add(entry_of<product<float>>());
  }
  EXPECT_EQ(&all.find(first.id), &first) << "entries stay where they are";
  EXPECT_EQ(first.lhs_name.view(), "int");
}

TEST(FailedBatches, AreReportedOnceToTheirSender) {
  failed_batches failed(true);
  const instance i(0, 1, 2);
  const instance j(0, 2, 2);
  EXPECT_FALSE(failed.take(1, i));
  failed.note(1, i);
  failed.note(1, i);
  EXPECT_FALSE(failed.take(2, i));
  EXPECT_FALSE(failed.take(1, j));
  EXPECT_TRUE(failed.take(1, i));
  EXPECT_FALSE(failed.take(1, i));
}

}  // namespace
}  // namespace sinew::region
