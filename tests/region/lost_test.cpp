// SPDX-License-Identifier: BSD-3-Clause
// A rank that is lost leaves nobody waiting for what it was asked for, whoever has asked it.
#include <array>
#include <chrono>
#include <thread>

#include "fixture.hpp"

namespace sinew::region {
namespace {

class Losses : public region_test {};

TEST_P(Losses, WhatALostRankWasAskedFor) {
  run(3, [](member& m) {
    const job_rank victim = 2;
    std::atomic<std::uint64_t>& over = m.all.all.word[1];
    m.regions.add<sum<std::int64_t>>();
    schema what(64);
    const auto f = what.add<std::int64_t>("f");
    const auto made_by = [&](job_rank by, memory where) {
      instance mine;
      if (by.value() == m.rank) {
        const made done = m.regions.create(what, where);
        m.good(done.ready, "create");
        m.good(m.regions.fill(at(done.what, f), std::int64_t{1}), "fill");
        mine = done.what;
      }
      const instance its = m.share(by.value(), mine);
      (void)m.regions.shape_of(its);
      return its;
    };
    const instance its = made_by(victim, memory::shared(victim));
    const instance own = made_by(victim, memory::heap(victim));
    const instance target = made_by(1, memory::shared(1));
    list<sum<std::int64_t>> contributions(m.regions, its, f);
    m.meet();
    if (victim.value() == m.rank) {
      while (over.load() == 0) {  // it does nothing, as if it had ended
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    } else if (m.rank == 0) {
      // Rank 1 hands it on to the owner of the source, unless it can read that itself.
      const event reduced = m.regions.reduce<sum<std::int64_t>>(at(own, f), at(target, f));
      const event created = m.regions.create(what, memory::shared(victim)).ready;
      const event private_one = m.regions.create(what, memory::heap(victim)).ready;
      contributions.reduce(1, 5);
      const event merged = contributions.merge();
      single<sum<std::int64_t>> one(m.regions, its, f);
      one.reduce(2, 5);
      const event flushed = one.flush();
      const event destroyed = m.regions.destroy(its);
      for (int i = 0; i < 100; ++i) {
        (void)m.all.rma.runtime().poll();
      }
      m.events.lost(victim);
      m.bad(created, "an instance in its memory");
      m.bad(private_one, "an instance in its private memory");
      m.bad(merged, "contributions to its instance");
      m.bad(flushed, "contributions sent at once");
      m.bad(destroyed, "the end of its instance");
      (void)m.events.wait(reduced);
      over.store(1);
    } else {
      m.all.until([&] { return over.load() != 0; });
    }
    m.meet();
  });
}

TEST_P(Losses, MemoryThatALostRankWaitedForIsFree) {
  run(3, [](member& m) {
    const job_rank victim = 2;
    std::atomic<std::uint64_t>& over = m.all.all.word[1];
    const auto megabytes = [&](std::uint64_t count) {  // of the 32 of rank 0
      schema what(count << 20);
      (void)what.add<char>("bytes");
      return m.regions.create(what, memory::shared(0));
    };
    std::array<user_event, 2> used;
    std::array<event, 2> gone;
    if (m.rank == 0) {
      for (const std::size_t i : {0u, 1u}) {
        const made one = megabytes(i == 0 ? 20 : 4);
        m.good(one.ready, "create");
        used[i] = m.events.create();
        gone[i] = m.regions.destroy(one.what, used[i]);
      }
    }
    const user_event asked{
        event::from_bits(m.share(0, m.rank == 0 ? m.events.create().bits() : 0))};
    if (victim.value() == m.rank) {
      (void)megabytes(10);  // where half of the first is
      (void)megabytes(16);  // where the other half is, the second, and free memory
      m.events.trigger(asked);
    }
    if (m.rank == 0) {
      m.good(asked, "to ask");  // what was sent before has come
    }
    m.all.settle();
    if (victim.value() == m.rank) {
      while (over.load() == 0) {  // it does nothing, as if it had ended
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    } else if (m.rank == 0) {
      m.events.trigger(used[1]);
      m.good(gone[1], "destroy");
      m.events.lost(victim);  // now the smaller one has room beside the first
      const made third = megabytes(11);
      over.store(1);
      require(m.events.has_triggered(third.ready), "there is no room beside the first");
      m.good(m.regions.destroy(third.what), "destroy");
      m.events.trigger(used[0]);
      m.good(gone[0], "destroy");
      const made all = megabytes(31);
      m.good(all.ready, "all of it");
      m.good(m.regions.destroy(all.what), "destroy");
    } else {
      m.all.until([&] { return over.load() != 0; });
    }
    m.meet();
  });
}

INSTANTIATE_TEST_SUITE_P(, Losses, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
