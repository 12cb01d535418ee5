// SPDX-License-Identifier: BSD-3-Clause
// A job of events and regions in which each allocation fails in turn.
#include "fixture.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/reservation.hpp"
#include "support/allocations.hpp"
#include "support/failing_job.hpp"

namespace sinew::region {
namespace {

using sinew::event::state;

/// Every kind of memory and of operation, from one rank to the other; some deferred, so that they
/// are done in fires and in handlers of messages.
void script(test::rma_member& m) {
  sinew::event::system events(m.rma.runtime());
  system regions(m.rma, events);
  m.meet();
  member all{m, events, regions, m.rank, m.size};
  const auto good = [&](event e) {
    if (events.wait(e) != state::triggered) {
      test::end_with("an event was poisoned");
    }
  };
  regions.add<sum<int>>();
  schema what({8, 8});
  const auto f = what.add<int>("f");
  const auto g = what.add<int>("g");
  for (const memory where :
       {memory::heap(1), memory::shared(0), memory::global(), memory::symmetric()}) {
    made one;
    made two;
    const user_event go = events.create();
    if (m.rank == 0) {
      one = regions.create(what, where, {}, go);
      two = regions.create(what, memory::heap(0));
      good(two.ready);
      events.trigger(go);
      good(one.ready);
      const user_event later = events.create();
      const event filled = regions.fill(at(one.what, f), 3, later);
      const event moved = regions.copy(at(one.what, f), at(two.what, g), filled);
      const event back =
          regions.copy(at(two.what, g, {{0, 4}, {1, 4}}), at(one.what, g, {{2, 4}, {0, 4}}), moved);
      events.trigger(later);
      good(back);
    }
    const instance target = all.share(0, one.what);
    fold<sum<int>> folds(regions, target, f);
    list<sum<int>> lists(regions, target, f);
    single<sum<int>> singles(regions, target, f);
    for (std::uint64_t e = 0; e < 64; ++e) {
      folds.reduce(e, 1);
      lists.reduce(e, 1);
      singles.reduce(e, 1);
    }
    good(events.merge({folds.merge(), lists.merge(), singles.flush()}));
    all.meet();
    if (m.rank == 1) {
      const event gone = regions.destroy(target);
      good(gone);
    }
    all.meet();
  }
  all.meet();
}

TEST(RegionAllocations, EachMayFail) {
  for (const int victim : {0, 1}) {
    test::with_each_allocation_failing([victim](long n) {
      bool failed = false;
      test::rma_job job(2, {test::backend::inproc,
                            core::threading::one,
                            test::ranks_as::threads,
                            {std::size_t{1} << 20, std::size_t{4} << 20}});
      const std::string problem = job.run([&](test::rma_member& m) {
        try {
          if (m.rank == victim) {
            test::fails_at = n;
          }
          script(m);
          if (m.rank == victim) {
            failed = test::fails_at == 0;
            test::fails_at = 0;
          }
        } catch (const std::exception& e) {
          test::end_with(e.what());
        }
      });
      if (!problem.empty()) {
        test::end_with(problem.c_str());
      }
      return failed ? test::in_order : test::without_failure;
    });
  }
}

}  // namespace
}  // namespace sinew::region
