// SPDX-License-Identifier: BSD-3-Clause
// The planner: no memory of instances, no ranks.
#include "region/plan.hpp"

#include "fixture.hpp"
#include "plain_heaps.hpp"
#include "support/ids.hpp"

namespace sinew::region {
namespace {

using fabric::direction;
using fabric::piece;

TEST(Plan, ARankThatSeesBothSidesExecutes) {
  for (const bool kernel : {true, false}) {
    for (const job_rank source : std::initializer_list<job_rank>{every_rank, 0, 1, 2}) {
      for (const job_rank target : std::initializer_list<job_rank>{every_rank, 0, 1, 2}) {
        const owners of{source, target};
        const job_rank executor = choose_executor(action::copy, of, 0, kernel);
        const bool seen = !of.source_is_far(0) && !of.target_is_far(0);
        const std::string where =
            to_string(source) + " to " + to_string(target) + (kernel ? "" : " alone");
        EXPECT_EQ(executor == 0,
                  seen || source == 0 || (kernel && !(of.source_is_far(0) && of.target_is_far(0))))
            << where;
        EXPECT_FALSE(!kernel && of.source_is_far(executor)) << where;
        EXPECT_FALSE(of.source_is_far(choose_sender(of, 0))) << where;
        const job_rank filler = choose_executor(action::fill, {every_rank, target}, 0, kernel);
        EXPECT_FALSE(owners({every_rank, target}).target_is_far(filler)) << where;
      }
    }
  }
}

TEST(Plan, WaysOfCopies) {
  const owners seen{};
  const owners far_source{1, every_rank};
  const owners far{1, 2};
  EXPECT_EQ(choose_copy_way({0, 8, 8, true}, far, 0), copy_way::nothing);
  EXPECT_EQ(choose_copy_way({9, 8, 8, false}, seen, 0), copy_way::by_runs);
  EXPECT_EQ(choose_copy_way({9, 8, 8, true}, seen, 0), copy_way::scattered);
  EXPECT_EQ(choose_copy_way({1000, 8, 8, false}, far_source, 0), copy_way::scattered);
  EXPECT_EQ(choose_copy_way({1000, 8, least_piece, false}, far_source, 0), copy_way::by_runs);
  EXPECT_EQ(choose_copy_way({9, 8, 72, false}, far_source, 0), copy_way::by_runs)
      << "all in one piece";
  EXPECT_EQ(choose_copy_way({1000, 8, 8, false}, far_source, 1), copy_way::by_runs);
  EXPECT_EQ(choose_copy_way({1000, 8, 8000, false}, far, 0), copy_way::messages);
}

TEST(Plan, PairsOfRunsEndWhereEitherSideEnds) {
  const layout one = layout_of<int>(shape{6, 10});
  const layout parts = layout_of<int>(shape(60), 3, {order::by_field, {}, 8});
  walker from(one, 0, resolve(one.elements, {{0, 5}, {0, 8}}, "a test"));
  walker to(parts, 0, resolve(parts.elements, {{4, 40}}, "a test"));
  paired_walk both(from, to);
  EXPECT_EQ(both.contiguous(4), 16u);
  std::vector<std::uint64_t> counts;
  std::uint64_t element = 4;
  for (; !both.done(); both.skip(counts.back())) {
    const paired_walk::pair p = both.now();
    EXPECT_EQ(p.to.part, parts.part_of(element));
    EXPECT_EQ(p.from.step, 4);
    counts.push_back(p.count);
    element += p.count;
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{4, 4, 4, 4, 4, 4, 4, 4, 4, 4}));
}

struct batch {
  job_rank peer;
  direction way;
  std::vector<piece> pieces;
};

TEST(Plan, PiecesAreBatchedByPeerAndDirection) {
  std::vector<batch> got;
  piece_batch pieces([&](job_rank peer, direction way, std::span<const piece> list) {
    got.push_back({peer, way, {list.begin(), list.end()}});
  });
  std::byte memory[64];
  pieces.add(1, direction::in, {memory, 4, 1000, 4, 5, 4});
  pieces.add(1, direction::in, {memory, 4, 2000, 8, 3, 4});
  pieces.add(2, direction::in, {memory, 4, 3000, -4, 1, 4});
  pieces.add(2, direction::out, {memory + 8, -4, 4000, 4, 2, 4});
  pieces.flush();
  pieces.flush();  // nothing more
  ASSERT_EQ(got.size(), 3u);
  ASSERT_EQ(got[0].pieces.size(), 4u);
  EXPECT_EQ(got[0].pieces[0].bytes, 20u);
  EXPECT_EQ(got[0].pieces[3].remote, 2016u);
  EXPECT_EQ(got[0].pieces[3].local, memory + 8);
  EXPECT_EQ(got[1].peer, 2);
  EXPECT_EQ(got[2].way, direction::out);
  EXPECT_EQ(got[2].pieces[1].local, memory + 4);
  EXPECT_EQ(got[2].pieces[1].remote, 4004u);
  got.clear();
  pieces.add(1, direction::in, {memory, 0, 1000, 8, 600, 4});
  pieces.flush();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].pieces.size() + got[1].pieces.size() + got[2].pieces.size(), 600u);
  EXPECT_EQ(got[2].pieces.back().remote, 1000u + 599 * 8);
}

/// What the other rank's memory holds, and a kernel that copies from and to it.
struct other_rank {
  std::vector<std::byte> memory;
  void read(std::span<const piece> pieces) {
    for (const piece& p : pieces) {
      std::memcpy(p.local, memory.data() + p.remote, p.bytes);
    }
  }
  void write(std::span<const piece> pieces) {
    for (const piece& p : pieces) {
      std::memcpy(memory.data() + p.remote, p.local, p.bytes);
    }
  }
};

TEST(Plan, JoinedReadsFetchEachElement) {
  random_generator random(seed());
  for (int round = 0; round < 300; ++round) {
    other_rank other{std::vector<std::byte>(4000)};
    for (std::byte& b : other.memory) {
      b = static_cast<std::byte>(random.between(0, 255));
    }
    const auto bytes = static_cast<std::size_t>(random.between(1, 24));
    const auto gap = static_cast<std::uint64_t>(random.between(0, 40));
    const auto count = static_cast<std::size_t>(random.between(1, 100));
    std::vector<std::byte> here(count * bytes);
    std::vector<element_move> moves;
    for (std::size_t i = 0; i < count; ++i) {
      const auto slot =
          static_cast<std::uint64_t>(random.between(0, 3900 / static_cast<int>(bytes)));
      moves.push_back({slot * bytes, here.data() + i * bytes});
    }
    std::vector<element_move> all = moves;
    sort_by_address(moves);
    std::vector<std::byte> buffer(bytes + static_cast<std::size_t>(random.between(0, 500)));
    joined_read plan;
    std::size_t calls = 0;
    for (std::span<const element_move> left = moves; !left.empty(); ++calls) {
      plan_read(left, bytes, gap, buffer, plan);
      ASSERT_GE(plan.found.size(), 1u);
      ASSERT_LE(plan.pieces.size(), plan.found.size());
      for (std::size_t p = 1; p < plan.pieces.size(); ++p) {
        ASSERT_GT(plan.pieces[p].remote,
                  plan.pieces[p - 1].remote + plan.pieces[p - 1].bytes + gap);
      }
      other.read(plan.pieces);
      for (std::size_t i = 0; i < plan.found.size(); ++i) {
        std::memcpy(left[i].here, plan.found[i], bytes);
      }
      left = left.subspan(plan.found.size());
    }
    ASSERT_LE(calls, count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::memcmp(here.data() + i * bytes, other.memory.data() + all[i].there, bytes), 0);
    }
  }
}

TEST(Plan, JoinedWritesTouchNothingElseAndTheLastCounts) {
  random_generator random(seed() + 1);
  for (int round = 0; round < 300; ++round) {
    const auto bytes = static_cast<std::size_t>(random.between(1, 24));
    const auto count = static_cast<std::size_t>(random.between(1, 100));
    other_rank other{std::vector<std::byte>(150 * bytes)};
    std::vector<std::byte> expected = other.memory;
    std::vector<std::byte> here(count * bytes);
    std::vector<element_move> moves;
    for (std::size_t i = 0; i < count; ++i) {
      std::fill_n(here.data() + i * bytes, bytes, static_cast<std::byte>(i + 1));
      const auto slot = static_cast<std::uint64_t>(random.between(0, 149));
      moves.push_back({slot * bytes, here.data() + i * bytes});
      std::memcpy(expected.data() + slot * bytes, here.data() + i * bytes, bytes);
    }
    sort_by_address(moves);
    std::vector<std::byte> packed(count * bytes);
    const std::vector<piece> pieces = plan_write(moves, bytes, packed);
    for (std::size_t p = 1; p < pieces.size(); ++p) {
      ASSERT_GT(pieces[p].remote, pieces[p - 1].remote + pieces[p - 1].bytes);
    }
    other.write(pieces);
    ASSERT_EQ(other.memory, expected);
  }
}

TEST(Plan, BetweenNodesWhoSeesTheSourceSendsIt) {
  const std::vector<share> here{{0, 0}};
  const std::vector<share> there{{1, 2}};
  const std::vector<share> both{{0, 0}, {1, 2}};
  const auto said = [](const division& d) {
    std::string text = d.spread ? "spread" : "one";
    for (const job_rank r : d.executors) {
      text += " " + to_string(r);
    }
    return text;
  };
  EXPECT_EQ(said(divide(here, there, {})), "spread 0");
  EXPECT_EQ(said(divide(there, here, {2, every_rank})), "spread 2");
  EXPECT_EQ(said(divide(both, here, {})), "spread 0 2");
  EXPECT_EQ(said(divide(here, both, {})), "spread 0");
  EXPECT_EQ(said(divide(there, there, {})), "one 2");
  EXPECT_EQ(said(divide(there, std::vector<share>{{1, 3}}, {every_rank, 3})), "one 3");
  EXPECT_EQ(said(divide(both)), "spread 0 2");
  EXPECT_EQ(said(divide(there)), "one 2");
}

TEST(Plan, ANodeWithPartsHasOneShare) {
  plain_heaps heaps(4);
  const instance i =
      heaps.make(0, layout_of<int>(shape(64), 4, {order::by_field, {}, 8}), {0, 1, 2, 3});
  const known_ptr k = heaps.of(1).find(i);
  shared_heaps nodes = heaps.of(1).heaps();
  nodes.nodes = {0, 0, 1, 1};
  nodes.begins[2] = nodes.begins[3] = nullptr;
  EXPECT_EQ(shares_of(*k, nodes, 1), (std::vector<share>{{0, 1}, {1, 2}}));
}

}  // namespace
}  // namespace sinew::region
