// SPDX-License-Identifier: BSD-3-Clause
// Plans of collectives: what they give, begun and ended by several threads, again and again.
// (Their results for any data, types and operators: tests/programs/mpi, where the programs of the
// blocking collectives run by the other forms.)
#include "sinew/coll/nonblocking.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "gtest/gtest.h"
#include "support/job.hpp"

namespace sinew::test {
namespace {

using coll::communicator_ref;
using coll::ongoing;
using coll::plan_ref;

coll::op_ref sum() { return std::make_shared<const coll::op>(); }

p2p::buffer ints_at(int* at, std::size_t count) {
  return {at, count, &layout::of(layout::element::i32)};
}

void wait(member& m, const std::shared_ptr<ongoing>& o) {
  m.engine.runtime().wait(o->over);
  ASSERT_EQ(o->problem, nullptr);
  ASSERT_EQ(o->outcome, p2p::fault::none);
}

/// Several are under way at once; the one that was begun first is waited for last.
void some_rounds(member& m, const communicator_ref& c, int rounds) {
  const int n = c->size();
  int in = 0;
  int total = 0;
  const coll::position here = coll::position_of({m.engine, *c});
  const plan_ref kept =
      coll::plan_of(here, reduction(collective::allreduce, &in, ints_at(&total, 1), sum()));
  const message_tag tag = coll::persistent_tag(*c);
  for (int i = 0; i < rounds; ++i) {
    int own = c->rank().value() + i;
    int all = -1;
    int word = c->rank() == comm_rank{i % n} ? i : -1;
    std::vector<int> everybody(static_cast<std::size_t>(n), -1);
    in = i;
    const auto begin = [&](plan_ref p) {
      return coll::start(m.engine, c, std::move(p), coll::nonblocking_tag(*c));
    };
    const auto again = coll::start(m.engine, c, kept, tag);
    const std::array<std::shared_ptr<ongoing>, 4> under_way{
        begin(coll::plan_of(here, reduction(collective::scan, &own, ints_at(&all, 1), sum()))),
        begin(coll::plan_of(here, bcast_of(ints_at(&word, 1), comm_rank{i % n}))),
        begin(coll::plan_of(
            here, {collective::allgather, ints_at(&own, 1), ints_at(everybody.data(), 1)})),
        begin(coll::plan_of(here, {}))};
    for (std::size_t o = under_way.size(); o-- > 0;) {
      wait(m, under_way[o]);
    }
    wait(m, again);
    const int rank = c->rank().value();
    EXPECT_EQ(all, rank * (rank + 1) / 2 + (rank + 1) * i);
    EXPECT_EQ(word, i);
    EXPECT_EQ(total, n * i);
    for (int r = 0; r < n; ++r) {
      EXPECT_EQ(everybody[static_cast<std::size_t>(r)], r + i);
    }
  }
}

TEST(nonblocking, goes_on_while_others_are_waited_for) {
  for (const int n : {1, 2, 3, 6}) {
    run_job(n, backend::inproc, core::threading::one, [](member& m) {
      some_rounds(m, coll::duplicate({m.engine, m.comm}), 50);
      coll::barrier({m.engine, m.comm});
    });
  }
}

/// x -> a x + b modulo 2^32: whole maps in one element, whose composition does not commute.
struct map {
  std::uint32_t a = 1, b = 0;
  bool operator==(const map&) const = default;
};
map composed(const map& lower, const map& higher) {
  return {lower.a * higher.a, lower.b * higher.a + higher.b};
}
map map_of(int rank, std::size_t i) {
  return {static_cast<std::uint32_t>(2 * rank + 3), static_cast<std::uint32_t>(i) + 1};
}
map total_of(int ranks, std::size_t i) {
  map all = map_of(0, i);
  for (int r = 1; r < ranks; ++r) {
    all = composed(all, map_of(r, i));
  }
  return all;
}

/// Reductions of vectors that the ranks divide, in pieces: with fewer elements than a piece has,
/// with a few more than whole pieces, in their place and not.
void long_reductions(member& m, const communicator_ref& c, std::size_t count) {
  const int n = c->size();
  const coll::position here(*c);
  const auto o = std::make_shared<const coll::op>(coll::op{
      .kind = coll::op_kind::user,
      .commutative = false,
      .call = [](void*, const void* in, void* inout, std::size_t some, const layout::datatype&) {
        for (std::size_t i = 0; i < some; ++i) {
          map& into = static_cast<map*>(inout)[i];
          into = composed(static_cast<const map*>(in)[i], into);
        }
      }});
  const layout::datatype_ref two = layout::contiguous(2, layout::of(layout::element::u32));
  std::vector<map> mine(count);
  for (std::size_t i = 0; i < count; ++i) {
    mine[i] = map_of(m.rank, i);
  }
  const auto carry_out = [&](plan_ref p) {
    wait(m, coll::start(m.engine, c, std::move(p), coll::nonblocking_tag(*c)));
  };
  const auto expect = [&](const std::vector<map>& got, std::size_t first, std::size_t some) {
    for (std::size_t i = 0; i < some; ++i) {
      ASSERT_EQ(got[i], total_of(n, first + i)) << "element " << first + i << " of " << count;
    }
  };
  for (const bool in_its_place : {false, true}) {
    std::vector<map> got = in_its_place ? mine : std::vector<map>(count);
    const p2p::buffer into{got.data(), count, &*two};
    const void* const from = in_its_place ? coll::in_place : mine.data();
    carry_out(coll::plan_of(here, reduction(collective::allreduce, from, into, o)));
    expect(got, 0, count);
    for (const int root : {0, n - 1}) {
      const bool at_root = m.rank == root;
      got = in_its_place && at_root ? mine : std::vector<map>(count);
      carry_out(coll::plan_of(
          here, reduction(collective::reduce, at_root ? from : mine.data(),
                          p2p::buffer{got.data(), count, &*two}, o, comm_rank{root})));
      expect(got, 0, at_root ? count : 0);
    }
    const std::size_t each = count / static_cast<std::size_t>(n);
    got = in_its_place ? mine : std::vector<map>(count);
    carry_out(coll::plan_of(here, reduction(collective::reduce_scatter, from,
                                            p2p::buffer{got.data(), each, &*two}, o)));
    expect(got, each * static_cast<std::size_t>(m.rank), each);
    std::vector<std::ptrdiff_t> counts;  // rank 0 gets nothing, the last one most
    std::ptrdiff_t left = static_cast<std::ptrdiff_t>(count), first = 0;
    for (int r = 0; r < n; ++r) {
      counts.push_back(r == n - 1 ? left : r * left / (n + 3));
      first += r < m.rank ? counts.back() : 0;
      left -= counts.back();
    }
    got = in_its_place ? mine : std::vector<map>(count);
    carry_out(coll::plan_of(
        here, reduction(collective::reduce_scatter, from, counted(got.data(), counts, *two), o)));
    expect(got, static_cast<std::size_t>(first),
           static_cast<std::size_t>(counts[static_cast<std::size_t>(m.rank)]));
  }
}

TEST(nonblocking, long_reductions_go_in_parts_and_keep_the_order_of_ranks) {
  for (const int n : {2, 3, 5}) {
    for (const auto over : {backend::inproc, backend::shm}) {
      run_job(n, over, core::threading::one, [](member& m) {
        const communicator_ref c = coll::duplicate({m.engine, m.comm});
        for (const std::size_t count : {2048U, 2051U, 49'152U, 100'003U}) {
          long_reductions(m, c, count);
        }
        coll::barrier({m.engine, m.comm});
      });
    }
  }
}

TEST(nonblocking, threads_have_communicators_of_their_own) {
  run_job(3, backend::inproc, core::threading::many, [](member& m) {
    std::vector<communicator_ref> own;
    for (int t = 0; t < 3; ++t) {
      own.push_back(coll::duplicate({m.engine, m.comm}));
    }
    std::vector<std::thread> all;
    for (const communicator_ref& c : own) {
      all.emplace_back([&m, &c] { some_rounds(m, c, 30); });
    }
    for (std::thread& t : all) {
      t.join();
    }
    coll::barrier({m.engine, m.comm});
  });
}

/// What is sent up arrives from below, also where both neighbours are one rank.
TEST(nonblocking, a_ring_of_two_tells_its_directions_apart) {
  run_job(2, backend::inproc, core::threading::one, [](member& m) {
    const communicator_ref c = coll::duplicate({m.engine, m.comm});
    const int rank = c->rank().value();
    const int other = 1 - rank;
    const std::array<int, 2> both{other, other};
    const coll::neighbours ring{both, both, true};
    std::array<int, 2> sent{10 * rank, 10 * rank + 1};
    std::array<int, 2> got{-1, -1};
    wait(m, coll::start(m.engine, c,
                        coll::plan_of(coll::position(*c), {collective::neighbour_alltoall,
                                                           ints_at(sent.data(), 1),
                                                           ints_at(got.data(), 1),
                                                           -1,
                                                           {},
                                                           &ring}),
                        coll::nonblocking_tag(*c)));
    EXPECT_EQ(got[0], 10 * other + 1) << "from below: what was sent up";
    EXPECT_EQ(got[1], 10 * other);
  });
}

/// A message that is longer than its buffer is a fault of this rank; the others end.
TEST(nonblocking, a_fault_is_told_where_it_is) {
  run_job(3, backend::inproc, core::threading::one, [](member& m) {
    const communicator_ref c = coll::duplicate({m.engine, m.comm});
    std::array<int, 2> data{1, 2};
    const std::size_t count = c->rank() == 2 ? 1 : 2;
    const auto o = coll::start(
        m.engine, c,
        coll::plan_of(coll::position_of({m.engine, *c}), bcast_of(ints_at(data.data(), count), 0)),
        coll::nonblocking_tag(*c));
    m.engine.runtime().wait(o->over);
    EXPECT_EQ(o->outcome, c->rank() == 2 ? p2p::fault::truncated : p2p::fault::none);
    coll::barrier({m.engine, m.comm});
  });
}

/// Whose own messages were all right may depend on one whose were not: the data are there, or the
/// fault is told.
TEST(nonblocking, what_depends_on_a_fault_is_one_too) {
  run_job(9, backend::inproc, core::threading::one, [](member& m) {
    const communicator_ref c = coll::duplicate({m.engine, m.comm});
    const coll::participant at{m.engine, *c};
    for (const bool blocking : {true, false}) {
      for (int narrow = 1; narrow < m.size; ++narrow) {
        std::vector<int> data(100, m.rank == 0 ? narrow : -1);
        const p2p::buffer all = ints_at(data.data(), m.rank == narrow ? 99 : 100);
        p2p::fault f = p2p::fault::none;
        if (blocking) {
          f = coll::bcast(at, all, 0);
        } else {
          const auto o =
              coll::start(m.engine, c, coll::plan_of(coll::position_of(at), bcast_of(all, 0)),
                          coll::nonblocking_tag(*c));
          m.engine.runtime().wait(o->over);
          f = o->outcome;
        }
        if (f == p2p::fault::none) {
          EXPECT_EQ(data, std::vector<int>(100, narrow));
        } else {
          EXPECT_EQ(f, p2p::fault::truncated);
        }
        EXPECT_TRUE(m.rank != narrow || f != p2p::fault::none);
        coll::barrier(at);
      }
    }
  });
}

}  // namespace
}  // namespace sinew::test
