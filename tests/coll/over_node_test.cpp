// SPDX-License-Identifier: BSD-3-Clause
// Collectives over shared memory: who gets it, what becomes of it, several at a time.
#include <array>
#include <thread>

#include "trial.hpp"

namespace sinew::test {
namespace {

std::int64_t sum_of(coll::participant at, std::int64_t mine) {
  std::int64_t sum = 0;
  const coll::op add{.kind = coll::op_kind::sum};
  EXPECT_EQ(coll::allreduce(at, &mine, {&sum, 1, &layout::of(layout::element::i64)}, add),
            fault::none);
  return sum;
}

TEST(over_node, if_one_rank_has_no_memory_all_go_by_messages) {
  constexpr int ranks = 3;
  const node_heaps heaps(ranks, {1 << 20, 8 << 20});
  run_job(ranks, backend::shm, core::threading::one, [&](member& m) {
    rma::engine memory(m.runtime, heaps.where());
    coll::use_node_memory(m.runtime, memory);
    {
      const coll::communicator_ref all = coll::duplicate({m.engine, m.comm});
      const coll::participant at{m.engine, *all};
      if (m.rank == 1) {
        (void)memory.memory().allocate(rma::part::local, 7 << 20);
      }
      const std::size_t used = memory.memory().used(rma::part::local);
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(sum_of(at, m.rank + i), 3 + 3 * i);
        EXPECT_EQ(coll::team_of(at), nullptr);
      }
      EXPECT_EQ(memory.memory().used(rma::part::local), used);  // nobody keeps a block in vain
    }
    memory.sync_all();
  });
}

TEST(over_node, memory_goes_with_the_communicator) {
  constexpr int ranks = 4;
  const node_heaps heaps(ranks, {1 << 20, 8 << 20});
  run_job(ranks, backend::inproc, core::threading::one, [&](member& m) {
    rma::engine memory(m.runtime, heaps.where());
    coll::use_node_memory(m.runtime, memory);
    for (int i = 0; i < 20; ++i) {  // all of them together would not fit
      const coll::communicator_ref all = coll::duplicate({m.engine, m.comm});
      const coll::participant at{m.engine, *all};
      for (int call = 0; call < 4; ++call) {
        EXPECT_EQ(sum_of(at, m.rank), 6);
      }
      EXPECT_NE(coll::team_of(at), nullptr);
      memory.sync_all();
    }
    memory.sync_all();
    memory.release_those_due();
    EXPECT_EQ(memory.memory().used(rma::part::local), 0U);
    memory.sync_all();
  });
}

TEST(over_node, parts_of_the_ranks_and_several_communicators_by_turns) {
  run_job_on_node(5, backend::shm, core::threading::one, [](member& m) {
    const coll::participant at{m.engine, m.comm};
    const coll::communicator_ref half = coll::split(at, m.rank % 2, -m.rank);
    const coll::communicator_ref pair = coll::split(at, m.rank / 2, m.rank);
    const int evens[] = {6, 4};
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(sum_of({m.engine, *half}, m.rank), evens[m.rank % 2]);
      EXPECT_EQ(sum_of({m.engine, *pair}, m.rank), m.rank == 4 ? 4 : 4 * (m.rank / 2) + 1);
      EXPECT_EQ(sum_of(at, m.rank + i), 10 + 5 * i);
    }
    EXPECT_NE(coll::team_of({m.engine, *half}), nullptr);
    EXPECT_EQ(coll::team_of({m.engine, *pair}) == nullptr, m.rank == 4);  // alone
  });
}

/// Ranks 1, 3 and 4 share a node.
TEST(over_node, between_nodes_if_one_node_has_no_memory_all_go_by_messages) {
  constexpr int ranks = 5;
  const node_heaps heaps(ranks, {1 << 20, 8 << 20});
  const auto body = [&](member& m) {
    rma::engine memory(m.runtime, heaps.where());
    coll::use_node_memory(m.runtime, memory);
    {
      const coll::communicator_ref all = coll::duplicate({m.engine, m.comm});
      const coll::communicator_ref others = coll::duplicate({m.engine, m.comm});
      std::uint64_t taken = 0;
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(sum_of({m.engine, *others}, m.rank + i), 10 + 5 * i);
      }
      EXPECT_NE(coll::position_in_call({m.engine, *others}).nodes, nullptr);
      if (m.rank == 3) {
        taken = memory.memory().allocate(rma::part::local, 5 << 20);
      }
      const std::size_t used = memory.memory().used(rma::part::local);
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(sum_of({m.engine, *all}, m.rank + i), 10 + 5 * i);
      }
      EXPECT_EQ(coll::position_in_call({m.engine, *all}).nodes, nullptr);
      memory.sync_all();
      memory.release_those_due();
      EXPECT_EQ(memory.memory().used(rma::part::local), used);  // nobody keeps a block in vain
      if (taken != 0) {
        memory.memory().release(taken);
      }
    }
    memory.sync_all();
  };
  run_job(ranks, backend::shm, core::threading::one, body, {0, 1, 0, 1, 1});
}

TEST(over_node, between_nodes_parts_of_the_ranks_in_other_orders) {
  const auto body = [](member& m) {
    const coll::participant at{m.engine, m.comm};
    const coll::communicator_ref turned = coll::split(at, 0, -m.rank);
    const coll::communicator_ref near = coll::split(at, m.rank == 0 || m.rank == 2 ? 1 : 2, 0);
    const coll::communicator_ref apart = coll::split(at, m.rank < 2 ? 1 : 2, 0);
    for (int i = 0; i < 20; ++i) {
      std::int32_t word = m.rank == 5 ? i : -1;  // is rank 0 of `turned`
      EXPECT_EQ(coll::bcast({m.engine, *turned}, coll::buffer::of_bytes(&word, sizeof word), 0),
                fault::none);
      EXPECT_EQ(word, i);
      EXPECT_EQ(sum_of({m.engine, *near}, m.rank), m.rank == 0 || m.rank == 2 ? 2 : 13);
      EXPECT_EQ(sum_of({m.engine, *apart}, m.rank), m.rank < 2 ? 1 : 14);
    }
    EXPECT_NE(coll::position_in_call({m.engine, *turned}).nodes, nullptr);
    EXPECT_EQ(coll::position_in_call({m.engine, *near}).nodes == nullptr,
              m.rank == 0 || m.rank == 2);
    EXPECT_EQ(coll::team_of({m.engine, *near}) != nullptr, m.rank == 0 || m.rank == 2);
    EXPECT_EQ(coll::position_in_call({m.engine, *apart}).nodes == nullptr,
              m.rank < 2);  // one on each node
  };
  run_job_on_node(6, backend::shm, core::threading::one, body, false, {1 << 20, 64 << 20},
                  {0, 1, 0, 1, 1, 2});
}

/// The root of a broadcast goes on at once; what it says later must not overtake what slow ranks
/// have not read yet.
TEST(over_node, a_root_that_runs_ahead_overwrites_nothing) {
  run_job_on_node(3, backend::inproc, core::threading::one, [](member& m) {
    const coll::participant at{m.engine, m.comm};
    std::mt19937_64 random(static_cast<std::uint64_t>(m.rank) + 5);
    for (int i = 0; i < 3000; ++i) {
      std::array<std::int32_t, 300> data;
      const std::size_t n = i % 3 == 0 ? data.size() : 2;
      data.fill(m.rank == i % 2 ? i : -1);
      EXPECT_EQ(coll::bcast(at, coll::buffer::of_bytes(data.data(), 4 * n), comm_rank{i % 2}),
                fault::none);
      EXPECT_EQ(data[0], i);
      EXPECT_EQ(data[n - 1], i);
      if (random() % 50 == 0) {
        std::this_thread::yield();
      }
    }
  });
}

TEST(over_node, a_thread_for_each_communicator) {
  constexpr int ranks = 3, threads = 3;
  run_job_on_node(ranks, backend::shm, core::threading::many, [](member& m) {
    std::vector<coll::communicator_ref> comms;
    for (int t = 0; t < threads; ++t) {
      comms.push_back(coll::duplicate({m.engine, m.comm}));
    }
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        const coll::participant at{m.engine, *comms[static_cast<std::size_t>(t)]};
        for (int i = 0; i < 200 / share_of_rounds; ++i) {
          EXPECT_EQ(sum_of(at, m.rank + t), 3 + 3 * t);
        }
      });
    }
    for (std::thread& t : all) {
      t.join();
    }
  });
}

/// The same call by messages and over memory gives the same bits, also where the order matters.
TEST(over_node, results_do_not_depend_on_the_rank) {
  run_job_on_node(4, backend::inproc, core::threading::one, [](member& m) {
    const coll::participant at{m.engine, m.comm};
    const coll::op add{.kind = coll::op_kind::sum};
    const layout::datatype& real = layout::of(layout::element::f64);
    for (const std::size_t n : {1U, 100U, 700U, 3000U, 30000U}) {
      std::vector<double> mine(n), sum(n), first(n);
      std::mt19937_64 random(static_cast<std::uint64_t>(m.rank));
      for (double& x : mine) {
        x = static_cast<double>(random()) * (random() % 2 == 0 ? 1e-9 : -1.0);
      }
      EXPECT_EQ(coll::allreduce(at, mine.data(), {sum.data(), n, &real}, add), fault::none);
      first = sum;
      EXPECT_EQ(coll::bcast(at, {first.data(), n, &real}, 2), fault::none);
      EXPECT_EQ(std::memcmp(first.data(), sum.data(), n * sizeof(double)), 0);
      std::vector<double> again(n);
      EXPECT_EQ(coll::allreduce(at, mine.data(), {again.data(), n, &real}, add), fault::none);
      EXPECT_EQ(std::memcmp(again.data(), sum.data(), n * sizeof(double)), 0);
    }
  });
}

}  // namespace
}  // namespace sinew::test
