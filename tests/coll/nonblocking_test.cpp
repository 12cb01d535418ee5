// Plans of collectives: what they give, begun and ended by several threads, again and again.
// (Their results for any data, types and operators: tests/programs/mpi, where the programs of the
// blocking collectives run by the other forms.)
#include "sinew/coll/nonblocking.hpp"

#include <array>
#include <thread>
#include <vector>

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
  const plan_ref kept = coll::plan_allreduce(here, &in, ints_at(&total, 1), sum());
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
        begin(coll::plan_scan(here, &own, ints_at(&all, 1), sum())),
        begin(coll::plan_bcast(here, ints_at(&word, 1), comm_rank{i % n})),
        begin(coll::plan_allgather(here, ints_at(&own, 1), ints_at(everybody.data(), 1))),
        begin(coll::plan_barrier(here))};
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
    std::array<int, 2> sent{10 * rank, 10 * rank + 1};
    std::array<int, 2> got{-1, -1};
    wait(m, coll::start(m.engine, c,
                        coll::plan_neighbour_alltoall({both, both, true}, ints_at(sent.data(), 1),
                                                      ints_at(got.data(), 1)),
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
        coll::plan_bcast(coll::position_of({m.engine, *c}), ints_at(data.data(), count), 0),
        coll::nonblocking_tag(*c));
    m.engine.runtime().wait(o->over);
    EXPECT_EQ(o->outcome, c->rank() == 2 ? p2p::fault::truncated : p2p::fault::none);
    coll::barrier({m.engine, m.comm});
  });
}

}  // namespace
}  // namespace sinew::test
