// SPDX-License-Identifier: BSD-3-Clause
// Agreements of ranks that are threads of one process, some of which are said to have died.
#include "sinew/agreement/agreement.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

#include "sinew/boot/shared_memory.hpp"
#include "sinew/boot/survival.hpp"
#include "support/job.hpp"

namespace sinew::agreement {
namespace {

using core::threading;
using test::member;

class agreements : public ::testing::TestWithParam<threading> {
 protected:
  void job(int ranks, const std::function<void(member&)>& body) {
    const boot::descriptor memory = boot::make_shared_memory("agreement_test");
    boot::survival survivors(memory.get(), ranks);
    survivors_ = &survivors;
    test::run_job(ranks, test::backend::inproc, GetParam(), body, {}, &survivors);
  }
  /// To all that live: nothing more is heard of it.
  void die(member& m) { survivors_->mark_dead(job_rank{m.rank}); }

 private:
  boot::survival* survivors_ = nullptr;
};

/// All ranks; it outlives what is done with it.
coll::communicator_ref world_of(member& m) { return {coll::communicator_ref(), &m.comm}; }

std::uint32_t agreed(member& m, const coll::communicator_ref& c, std::uint32_t flag) {
  return agree(m.engine, c, c->members(), flag).flag;
}

void check_usable(member& m, core::communicator& c) {
  std::int32_t sum = 1;
  ASSERT_EQ(coll::allreduce({m.engine, c}, coll::in_place,
                            {&sum, 1, &layout::of(layout::element::i32)}, {coll::op_kind::sum}),
            coll::fault::none);
  EXPECT_EQ(sum, c.size());
}

TEST_P(agreements, flags_are_joined_again_and_again) {
  job(3, [](member& m) {
    EXPECT_TRUE(ranks_survive(m.engine));
    const coll::communicator_ref c = world_of(m);
    const std::uint32_t flags[] = {7, 6, 14};
    for (std::uint32_t round = 0; round < 20; ++round) {
      EXPECT_EQ(agreed(m, c, flags[m.rank] + 16 * round), 6 + 16 * round);
    }
    (void)coll::barrier({m.engine, m.comm});
  });
}

TEST_P(agreements, who_dies_does_not_vote_and_is_told_of) {
  job(3, [this](member& m) {
    const coll::communicator_ref c = world_of(m);
    if (m.rank == 1) {
      die(m);
      return;
    }
    const boot::decision d = agree(m.engine, c, c->members(), m.rank == 0 ? 12U : 5U);
    EXPECT_EQ(d.flag, 4U);
    EXPECT_EQ(d.deaths, 1U);
    EXPECT_EQ(deaths(m.engine), 1U);
    EXPECT_EQ(dead_members(m.engine, *c, d.deaths), std::vector<job_rank>{1});
    EXPECT_EQ(unacknowledged(m.engine, *c, d.deaths), job_rank{1});
    EXPECT_EQ(acknowledge(m.engine, *c, 0), 0);
    EXPECT_EQ(acknowledge(m.engine, *c, 3), 1);
    EXPECT_EQ(unacknowledged(m.engine, *c, d.deaths), no_job_rank);
    EXPECT_EQ(agreed(m, c, 1), 1U);
  });
}

TEST_P(agreements, those_that_are_started_end_in_their_order_and_before_later_ones) {
  job(3, [](member& m) {
    const coll::communicator_ref c = world_of(m);
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 1; i <= 5; ++i) {
      start(
          m.engine, c, c->members(), i,
          [](void* context, const boot::decision& d) noexcept {
            static_cast<std::vector<std::uint32_t>*>(context)->push_back(d.flag);
          },
          &order);
    }
    EXPECT_EQ(agreed(m, c, 6), 6U);
    EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
    (void)coll::barrier({m.engine, m.comm});
  });
}

TEST_P(agreements, what_is_left_of_a_communicator_can_be_used) {
  job(4, [this](member& m) {
    const coll::communicator_ref c = world_of(m);
    EXPECT_EQ(agreed(m, c, 3), 3U);
    if (m.rank == 2) {
      die(m);
      return;
    }
    const coll::communicator_ref left = shrink(m.engine, c);
    ASSERT_EQ(left->size(), 3);
    EXPECT_EQ(left->job_rank(left->rank()), job_rank{m.rank});
    EXPECT_FALSE(left->members().find(2) >= 0);
    check_usable(m, *left);
    EXPECT_EQ(agreed(m, left, 9), 9U);
    const coll::communicator_ref again = shrink(m.engine, left);
    ASSERT_EQ(again->size(), 3);
    EXPECT_NE(again->context(), left->context());
    check_usable(m, *again);
  });
}

/// Ranks 0 and 1, and the others.
coll::intercommunicator_ref two_groups(member& m, core::communicator& job) {
  const int color = m.rank < 2 ? 0 : 1;
  const coll::communicator_ref local = coll::split({m.engine, m.comm}, color, 0);
  const coll::leaders_link link{m.comm, comm_rank{color == 0 ? 2 : 0}, 5};
  return coll::connect({m.engine, *local}, 0, local->rank() == 0 ? &link : nullptr, job);
}

TEST_P(agreements, two_groups_hear_each_other_and_shrink_to_what_lives) {
  job(4, [this](member& m) {
    const coll::communicator_ref all = coll::job(m.engine);
    const coll::intercommunicator_ref both = two_groups(m, *all);
    // Each hears the other group alone.
    const boot::decision d = agree(m.engine, both->all(), both->remote(), m.rank < 2 ? 1U : 2U);
    EXPECT_EQ(d.flag, m.rank < 2 ? 2U : 1U);
    if (m.rank == 3) {
      die(m);
      return;
    }
    const coll::intercommunicator_ref left = shrink(m.engine, *both);
    ASSERT_NE(left, nullptr);
    EXPECT_EQ(left->local().size(), m.rank < 2 ? 2 : 1);
    EXPECT_EQ(left->remote().size(), m.rank < 2 ? 1 : 2);
    if (m.rank == 2) {
      die(m);
      return;
    }
    EXPECT_EQ(shrink(m.engine, *left), nullptr) << "a group has died out";
  });
}

INSTANTIATE_TEST_SUITE_P(all, agreements, ::testing::Values(threading::one, threading::many),
                         [](const auto& named) {
                           return named.param == threading::one ? "alone" : "threads";
                         });

}  // namespace
}  // namespace sinew::agreement
