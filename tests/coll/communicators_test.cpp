// SPDX-License-Identifier: BSD-3-Clause
// Communicators: who is in them, and that no two that share a rank share a context.
#include "sinew/coll/communicators.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <thread>

#include "coll/contexts.hpp"
#include "support/ids.hpp"
#include "trial.hpp"

namespace sinew::test {
namespace {

using coll::communicator_ref;
using coll::participant;

/// The sum of everybody's (job rank + 1): shows that exactly the members take part.
void expect_works(p2p::engine& engine, core::communicator& c) {
  std::int64_t sum = engine.runtime().rank().value() + 1;
  const coll::op add{.kind = coll::op_kind::sum};
  const coll::buffer into{&sum, 1, &layout::of(layout::element::i64)};
  EXPECT_EQ(coll::allreduce({engine, c}, in_place, into, add), fault::none);
  std::int64_t wanted = 0;
  for (const job_rank r : c.members().members()) {
    wanted += r.value() + 1;
  }
  EXPECT_EQ(sum, wanted);
  EXPECT_EQ(c.job_rank(c.rank()), engine.runtime().rank());
}

TEST(communicators, duplicates_are_apart_from_their_parents) {
  for (const int n : {1, 2, 3, 7}) {
    run_job(n, backend::inproc, core::threading::one, [](member& m) {
      std::vector<context_id> contexts{m.comm.context()};
      std::vector<communicator_ref> all;
      for (int i = 0; i < 5; ++i) {
        const communicator_ref c = all.empty() ? coll::duplicate({m.engine, m.comm})
                                               : coll::duplicate({m.engine, *all.back()});
        contexts.push_back(c->context());
        EXPECT_EQ(c->context().value() % 2, 0U);
        expect_works(m.engine, *c);
        all.push_back(c);
      }
      std::sort(contexts.begin(), contexts.end());
      EXPECT_EQ(std::unique(contexts.begin(), contexts.end()), contexts.end());
      EXPECT_LE(contexts.back().value(), 16U) << "contexts stay small";
    });
  }
}

// Who is no member does not spend a number on it, so thousands of small ones leave no gaps.
TEST(communicators, those_of_few_leave_the_numbers_of_others_alone) {
  run_job(3, backend::inproc, core::threading::one, [](member& m) {
    std::vector<communicator_ref> all;
    for (int i = 0; i < 60; ++i) {
      const core::group one(std::vector<job_rank>{job_rank{i % m.size}});
      if (communicator_ref made = coll::create({m.engine, m.comm}, one); made != nullptr) {
        all.push_back(std::move(made));
      }
      if (communicator_ref half = coll::split({m.engine, m.comm}, m.rank == i % m.size ? -1 : 0, 0);
          half != nullptr) {
        expect_works(m.engine, *half);
        all.push_back(std::move(half));
      }
    }
    EXPECT_EQ(all.size(), 60U);
    EXPECT_LE(all.back()->context().value(), 8U + 2U * 70U);
    expect_works(m.engine, *coll::duplicate({m.engine, m.comm}));
  });
}

// One rank holds every other number, the other those between.
TEST(context_ledger, where_no_number_is_free_for_all_one_above_them_is_taken_soon) {
  coll::context_ledger ranks[2];
  const coll::context_ledger::key key{0, 1};
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(ranks[i % 2].take(coll::context_ledger::first_free + 2 * i));
  }
  std::uint32_t from[2] = {coll::context_ledger::first_free, coll::context_ledger::first_free};
  ranks[0].enter(key);
  ranks[1].enter(key);
  for (int round = 0;; ++round) {
    ASSERT_LT(round, 12);
    const std::uint64_t said[] = {ranks[0].propose(key, from[0], round),
                                  ranks[1].propose(key, from[1], round)};
    const auto [low, high] = std::minmax(said[0], said[1]);
    const bool first = ranks[0].settle(said[0], low, high, from[0]);
    ASSERT_EQ(ranks[1].settle(said[1], low, high, from[1]), first);
    if (first) {
      break;
    }
  }
  EXPECT_EQ(from[0], coll::context_ledger::first_free + 2000);
  EXPECT_EQ(from[1], from[0]);
  // Gaps that all have are still found.
  ranks[0].release(coll::context_ledger::first_free + 200);
  const auto again = ranks[0].propose(key, coll::context_ledger::first_free + 200, 0);
  EXPECT_EQ(again, coll::context_ledger::first_free + 200);
  ranks[0].abandon(again);
  ranks[0].leave(key);
  ranks[1].leave(key);
}

TEST(communicators, self_and_what_is_made_of_it) {
  run_job(3, backend::inproc, core::threading::one, [](member& m) {
    const communicator_ref alone = coll::self(m.engine);
    EXPECT_EQ(alone->size(), 1);
    expect_works(m.engine, *alone);
    std::vector<communicator_ref> more;
    for (int i = 0; m.rank == 1 && i < 4; ++i) {
      more.push_back(coll::duplicate({m.engine, *alone}));
      expect_works(m.engine, *more.back());
    }
    // Rank 1 holds more than the others.
    const communicator_ref all = coll::duplicate({m.engine, m.comm});
    EXPECT_EQ(all->context().value(), 16U);
    expect_works(m.engine, *all);
  });
}

TEST(communicators, contexts_of_those_that_are_gone_are_used_again) {
  run_job(3, backend::inproc, core::threading::one, [](member& m) {
    const participant at{m.engine, m.comm};
    for (int i = 0; i < 300; ++i) {
      const communicator_ref c = coll::duplicate(at);
      EXPECT_EQ(c->context().value(), 8U);
      // Nor do ranks that are no members hold them: these two have no rank in common.
      const communicator_ref part = coll::split(at, m.rank == i % 3 ? -1 : 0, 0);
      const communicator_ref other =
          coll::create(at, core::group(std::vector<job_rank>{job_rank{i % 3}}));
      EXPECT_EQ((part != nullptr ? part : other)->context().value(), 10U);
      if (part != nullptr) {
        expect_works(m.engine, *part);
      }
    }
  });
}

/// Each rank holds others, so that no rank's lowest free context is free on all.
TEST(communicators, a_context_is_free_on_all_its_members) {
  run_job(3, backend::inproc, core::threading::one, [](member& m) {
    const communicator_ref alone = coll::self(m.engine);
    std::vector<communicator_ref> held;
    for (int i = 0; i < 200; ++i) {
      held.push_back(coll::duplicate({m.engine, *alone}));
    }
    for (std::size_t i = 0; i < 199; ++i) {
      if (i % 3 == static_cast<std::size_t>(m.rank)) {
        held[i].reset();
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const communicator_ref all = coll::duplicate({m.engine, m.comm});
      EXPECT_EQ(all->context().value(), 8U + 2 * 200U);
      expect_works(m.engine, *all);
    }
    for (std::size_t i = 60; i < 199; ++i) {
      held[i].reset();
    }
    const communicator_ref all = coll::duplicate({m.engine, m.comm});
    EXPECT_LE(all->context().value(), 8U + 2 * 200U);
    expect_works(m.engine, *all);
  });
}

TEST(communicators, world_holds_the_job) {
  run_job(3, backend::inproc, core::threading::one, [](member& m) {
    m.engine.detach(m.comm);  // the test's own world
    {
      const communicator_ref all = coll::world(m.engine);
      EXPECT_EQ(all->size(), 3);
      EXPECT_EQ(all->rank().value(), m.rank);
      expect_works(m.engine, *all);
    }
    m.engine.attach(m.comm);
  });
}

TEST(communicators, split_orders_by_key_then_rank) {
  run_job(7, backend::inproc, core::threading::one, [](member& m) {
    const participant at{m.engine, m.comm};
    const communicator_ref c = coll::split(at, m.rank == 3 ? -1 : m.rank % 2, -(m.rank / 4));
    if (m.rank == 3) {
      EXPECT_EQ(c, nullptr);
    } else {
      const ints wanted = m.rank % 2 == 0 ? ints{4, 6, 0, 2} : ints{5, 1};
      EXPECT_TRUE(std::equal(c->members().members().begin(), c->members().members().end(),
                             wanted.begin(), wanted.end(),
                             [](job_rank one, int other) { return one.value() == other; }));
      expect_works(m.engine, *c);
    }
    const communicator_ref node = coll::split_node(at, 0);
    EXPECT_EQ(node->size(), 7);
    expect_works(m.engine, *node);
    const communicator_ref nobody = coll::split(at, -1, 0);
    EXPECT_EQ(nobody, nullptr);
  });
}

TEST(communicators, create_makes_several_disjoint_ones_at_once) {
  run_job(6, backend::inproc, core::threading::one, [](member& m) {
    const core::group mine(m.rank < 3 ? std::vector<job_rank>{2, 0} : std::vector<job_rank>{3, 5});
    const communicator_ref c = coll::create({m.engine, m.comm}, mine);
    EXPECT_EQ(c == nullptr, m.rank == 1 || m.rank == 4);
    if (c != nullptr) {
      expect_works(m.engine, *c);
    }
  });
}

TEST(communicators, create_group_needs_only_its_members) {
  run_job(5, backend::inproc, core::threading::one, [](member& m) {
    const participant at{m.engine, m.comm};
    if (m.rank % 2 == 0) {
      const communicator_ref c = coll::create_group(at, core::group({4, 0, 2}), 0x7fffffff);
      expect_works(m.engine, *c);
      EXPECT_EQ(c->job_rank(0), 4);
      const communicator_ref inner = coll::create_group({m.engine, *c}, core::group({2, 4}), 0);
      EXPECT_EQ(inner == nullptr, m.rank == 0);
      if (inner != nullptr) {
        expect_works(m.engine, *inner);
      }
    }
    expect_works(m.engine, m.comm);
  });
}

TEST(communicators, unread_messages_of_a_parent_do_not_disturb) {
  run_job(2, backend::inproc, core::threading::one, [](member& m) {
    ints word{m.rank};
    const coll::buffer b = coll::buffer::of_bytes(word.data(), 4);
    auto* sent = m.engine.isend(m.comm, m.messages(), b, comm_rank{1 - m.rank}, 0);
    const communicator_ref c = coll::duplicate({m.engine, m.comm});
    expect_works(m.engine, *c);
    ints other{-1};
    m.engine.recv(m.comm, m.messages(), coll::buffer::of_bytes(other.data(), 4),
                  comm_rank{1 - m.rank}, 0);
    EXPECT_EQ(other[0], 1 - m.rank);
    if (sent != nullptr) {
      m.engine.wait(*sent);
      m.engine.release(sent);
    }
  });
}

/// Threads of one rank create from different parents at once, in different orders on different
/// ranks; every context must differ, and everything must end.
TEST(communicators, threads_create_at_once) {
  constexpr int threads = 4, rounds = 8;
  run_job(3, backend::inproc, core::threading::many, [](member& m) {
    std::vector<communicator_ref> parents;
    for (int t = 0; t < threads; ++t) {
      parents.push_back(coll::duplicate({m.engine, m.comm}));
    }
    std::mutex lock;
    std::vector<context_id> contexts;
    std::vector<communicator_ref> keep;
    const auto add = [&](const communicator_ref& c) {
      const std::lock_guard hold(lock);
      contexts.push_back(c->context());
      keep.push_back(c);
    };
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        const participant at{m.engine, *parents[static_cast<std::size_t>(t)]};
        for (int i = 0; i < rounds; ++i) {
          const communicator_ref c = coll::duplicate(at);
          add(c);
          add(coll::create_group({m.engine, m.comm}, m.comm.members(), message_tag{t}));
          expect_works(m.engine, *c);
        }
      });
    }
    for (auto& t : all) {
      t.join();
    }
    std::sort(contexts.begin(), contexts.end());
    EXPECT_EQ(std::unique(contexts.begin(), contexts.end()), contexts.end());
    coll::barrier({m.engine, m.comm});
  });
}

/// One rank creates A then B, another has a thread for each: whoever waits in A must not keep B
/// from being made.
TEST(communicators, an_early_thread_does_not_hold_up_another) {
  run_job(2, backend::inproc, core::threading::many, [](member& m) {
    const communicator_ref a = coll::duplicate({m.engine, m.comm});
    const communicator_ref b = coll::duplicate({m.engine, m.comm});
    for (int i = 0; i < 20; ++i) {
      if (m.rank == 1) {
        const communicator_ref second = coll::duplicate({m.engine, *b});
        expect_works(m.engine, *second);
        const communicator_ref first = coll::duplicate({m.engine, *a});
        expect_works(m.engine, *first);
        EXPECT_NE(first->context(), second->context());
      } else {
        std::thread early([&] { expect_works(m.engine, *coll::duplicate({m.engine, *a})); });
        expect_works(m.engine, *coll::duplicate({m.engine, *b}));
        early.join();
      }
    }
  });
}

/// Agreements that nobody waits for, several of one parent and of others, awaited in another order;
/// blocking ones in between, which the same ledger serves.
void start_many(member& m, core::communicator& other, const communicator_ref& parent,
                const communicator_ref& alone, int salt) {
  std::vector<std::shared_ptr<coll::new_communicator>> started;
  std::vector<communicator_ref> made;
  for (int i = 0; i < 6; ++i) {
    started.push_back(coll::start_duplicate(m.engine, i % 3 == 2 ? alone : parent));
    if (i % 2 == salt % 2) {
      made.push_back(coll::duplicate({m.engine, other}));
    }
  }
  for (std::size_t i = 0; i < started.size(); ++i) {
    const auto k = (i * 5 + static_cast<std::size_t>(m.rank + salt)) % started.size();
    m.engine.runtime().wait(started[k]->over);
    EXPECT_EQ(started[k]->problem, nullptr);
  }
  for (const auto& s : started) {
    made.push_back(s->made);
  }
  std::vector<context_id> contexts;
  for (const auto& c : made) {
    expect_works(m.engine, *c);
    contexts.push_back(c->context());
  }
  std::sort(contexts.begin(), contexts.end());
  EXPECT_EQ(std::unique(contexts.begin(), contexts.end()), contexts.end());
}

TEST(communicators, duplicates_are_made_in_the_background) {
  for (const int n : {1, 2, 3, 6}) {
    run_job(n, backend::inproc, core::threading::one, [](member& m) {
      const communicator_ref parent = coll::duplicate({m.engine, m.comm});
      const communicator_ref other = coll::duplicate({m.engine, m.comm});
      const communicator_ref alone = coll::self(m.engine);
      for (int i = 0; i < 4; ++i) {
        start_many(m, *other, parent, alone, i);
      }
      EXPECT_LE(coll::duplicate({m.engine, m.comm})->context().value(), 12U)
          << "all others are free again";
    });
  }
}

TEST(communicators, threads_duplicate_in_the_background) {
  run_job(3, backend::inproc, core::threading::many, [](member& m) {
    constexpr int threads = 3;
    std::vector<communicator_ref> parents;
    for (int t = 0; t < 2 * threads; ++t) {
      parents.push_back(coll::duplicate({m.engine, m.comm}));
    }
    const communicator_ref self = coll::self(m.engine);
    for (int t = 0; t < threads; ++t) {
      parents.push_back(coll::duplicate({m.engine, *self}));
    }
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        for (int i = 0; i < 6; ++i) {
          start_many(m, *parents[threads + t], parents[t], parents[2 * threads + t], i);
        }
      });
    }
    for (auto& t : all) {
      t.join();
    }
    coll::barrier({m.engine, m.comm});
  });
}

}  // namespace
}  // namespace sinew::test
