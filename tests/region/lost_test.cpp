// A rank that is lost leaves nobody waiting for what it was asked for, whoever has asked it.
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

INSTANTIATE_TEST_SUITE_P(, Losses, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
