// SPDX-License-Identifier: BSD-3-Clause
// What happens at the edges: each is told clearly, and nothing else is disturbed.
#include "fixture.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::region {
namespace {

/// Nobody else registers it.
struct rare {
  using lhs = int;
  using rhs = int;
  static constexpr int identity = 0;
  static void apply(int& value, const int& by) noexcept { value ^= by; }
  static void fold(int& value, const int& by) noexcept { value ^= by; }
};

class Edges : public region_test {};

TEST_P(Edges, NoRoomNamesTheSetting) {
  run(2, [](member& m) {
    schema what(std::uint64_t{1} << 26);
    (void)what.add<double>("large");
    for (const memory where : {memory::shared(job_rank{1 - m.rank}),
                               memory::shared(job_rank{m.rank}), memory::global()}) {
      const made none = m.regions.create(what, where);
      m.bad(none.ready, "an instance that is too large");
      require_in(m.regions.why(none.what), "no room for");
      require_in(m.regions.why(none.what), "SINEW_RMA_LOCAL_HEAP=");
      const schema small = [] {
        schema s(1);
        (void)s.add<double>("small");
        return s;
      }();
      const made one = m.regions.create(small, memory::shared(job_rank{m.rank}));
      m.good(one.ready, "a small one");
      const event copied = m.regions.copy(at(none.what, field<double>{0}, {{0, 1, 1}}),
                                          at(one.what, field<double>{0}));
      m.bad(copied, "a copy of an instance that was not made");
      m.good(m.regions.destroy(none.what), "destroy");
      m.good(m.regions.destroy(one.what), "destroy");
    }
    // What was found for a striped one on some ranks has been given back.
    const std::size_t before = m.regions.memory().memory().used(rma::part::local);
    const made none = m.regions.create(what, memory::global());
    m.bad(none.ready, "an instance that is too large");
    m.good(m.regions.destroy(none.what), "destroy");
    m.meet();
    require(m.regions.memory().memory().used(rma::part::local) <= before + 4096, "memory is lost");
  });
}

// A plane of the program's own array, in both directions, by both ranks.
TEST_P(Edges, InstancesOverMemoryOfTheProgram) {
  run(2, [](member& m) {
    constexpr std::uint64_t rows = 20;
    constexpr std::uint64_t columns = 30;
    constexpr std::uint64_t depth = 3;
    std::vector<int> mine(rows * columns * depth, -1);
    const auto bytes = std::as_writable_bytes(std::span(mine));
    schema plane({rows, columns});
    const auto f = plane.add<int>("f");
    const auto stride = static_cast<std::int64_t>(depth * sizeof(int));
    const layout_options second{
        order::as_given, {{sizeof(int), {static_cast<std::int64_t>(columns) * stride, stride}}}};
    const instance here = m.regions.attach(plane, bytes, second);
    require(m.regions.look<int, 2>(here, f).data() == &mine[1], "it is another plane");
    m.good(m.regions.fill(at(here, f), 10 + m.rank), "fill");
    m.meet();
    const instance there = m.share(1, here);
    if (m.rank == 0) {
      m.good(m.regions.copy(at(here, f, {{0, 1}, {}}), at(there, f, {{5, 1}, {}})), "a row there");
      m.good(m.regions.copy(at(there, f, {{6, 1}, {}}), at(here, f, {{7, 1}, {}})), "a row here");
      m.good(m.regions.destroy(there), "destroyed by another rank");
    }
    m.meet();
    for (std::uint64_t i = 0; i < mine.size(); ++i) {
      const std::uint64_t row = i / depth / columns;
      const bool from_other = row == (m.rank == 0 ? 7 : 5);
      const int value = i % depth != 1 ? -1 : from_other ? 11 - m.rank : 10 + m.rank;
      require(mine[i] == value, "element " + std::to_string(i) + " is " + std::to_string(mine[i]));
    }
    require_in(refusal([&] { (void)m.regions.attach(plane, bytes.subspan(16), second); }),
               "it takes 7196 bytes, and there are 7184");
    require_in(refusal([&] { (void)m.regions.attach(plane, bytes.subspan(2, 2400)); }),
               "field 'f' is not aligned to 4 bytes");
    require_in(refusal([&] { (void)m.regions.attach(plane, {}); }), "and there are 0");
    if (m.rank == 0) {
      m.good(m.regions.destroy(here), "destroy");
    }
    m.meet();
  });
}

TEST_P(Edges, KeptMemoryIsGivenBackWhenNeeded) {
  run(1, [](member& m) {
    const auto of = [&](std::uint64_t megabytes) {
      schema what(megabytes << 20);
      (void)what.add<char>("bytes");
      return m.regions.create(what, memory::shared(0));
    };
    for (const std::uint64_t megabytes : {20u, 30u, 9u, 31u}) {  // of 32
      const made one = of(megabytes);
      m.good(one.ready, "create");
      const made two = of(25);
      m.bad(two.ready, "an instance too many");
      m.good(m.regions.destroy(two.what), "destroy");
      m.good(m.regions.destroy(one.what), "destroy");
    }
  });
}

TEST_P(Edges, PrivateMemoryHasALimit) {
  setting_base* limit = settings::find("SINEW_REGION_HEAP");
  limit->parse("1M");
  run(2, [](member& m) {
    schema what(std::uint64_t{100000});
    const auto f = what.add<double>("f");
    const made one = m.regions.create(what, memory::heap(job_rank{1 - m.rank}));
    m.good(one.ready, "one");
    m.meet();
    const made two = m.regions.create(what, memory::heap(job_rank{1 - m.rank}));
    m.bad(two.ready, "two");
    require_in(m.regions.why(two.what), "SINEW_REGION_HEAP=2M or more");
    require_in(refusal([&] { (void)m.regions.look(one.what, f); }), "private memory of rank");
    m.meet();
    m.good(m.regions.destroy(one.what), "destroy");
    m.meet();
    const made again = m.regions.create(what, memory::heap(job_rank{1 - m.rank}));
    m.good(again.ready, "again");
    m.good(m.regions.destroy(again.what), "destroy");
  });
  limit->parse(limit->default_text());
}

TEST_P(Edges, SectionsOutsideAreRefused) {
  run(1, [](member& m) {
    schema what({10, 20});
    const auto f = what.add<int>("f");
    const instance i = m.regions.create(what, memory::shared(0)).what;
    const auto copy = [&](const section& from, const section& to) {
      return refusal([&] { (void)m.regions.copy(at(i, f, from), at(i, f, to)); });
    };
    require_in(copy({{0, 11, 1}, {}}, {}), "source outside of axis 0");
    require_in(copy({}, {{}, {19, 2, 1}}), "target outside of axis 1");
    require_in(copy({{-1, 1, 1}, {}}, {}), "begins at -1");
    require_in(copy({{9, 4, -3}, {}}, {{9, 5, -3}, {}}), "reaches -3");
    require_in(copy({{0, 1, 0}, {}}, {}), "step is 0");
    require_in(copy({{0, 1, 1}}, {}), "axes");
    require_in(copy({{0, 2, 1}, {}}, {}), "40 elements and its target 200");
    require_in(copy({{9223372036854775807, 1, 9223372036854775807}, {}}, {}), "source outside");
    require_in(refusal([&] { (void)m.regions.fill(at(i, f, {{10, 1, 1}, {}}), 3); }), "outside");
    require((m.regions.look<int, 2>(i, f).extent(1)) == 20, "a view's extent");
    require_in(refusal([&] { (void)m.regions.look<int, 1>(i, f); }), "2 axes");
    m.good(m.regions.destroy(i), "destroy");
  });
}

TEST_P(Edges, UnlikeTypesAreRefused) {
  run(1, [](member& m) {
    schema what(10);
    const auto f = what.add<int>("count");
    const auto g = what.add<double>("weight");
    const instance i = m.regions.create(what, memory::shared(0)).what;
    m.regions.add<sum<double>>();
    m.regions.add<sum<int>>();
    require_in(refusal([&] { (void)m.regions.copy(at(i, f), at(i, g)); }),
               "field 'count' has type int and field 'weight' double");
    require_in(refusal([&] { (void)m.regions.copy(at(i, field<float>{0}), at(i, f)); }),
               "has type int, and another was given");
    require_in(refusal([&] { (void)m.regions.fill(at(i, f), 3.0); }), "has type int");
    require_in(refusal([&] { (void)m.regions.reduce<sum<double>>(at(i, g), at(i, f)); }),
               "reduces values of type double, and field 'count' has type int");
    require_in(refusal([&] { (void)m.regions.reduce<sum<double>>(at(i, f), at(i, g)); }),
               "takes contributions of type double, and field 'count' has type int");
    require_in(refusal([&] { fold<sum<double>> wrong(m.regions, i, field<double>{f.number}); }),
               "has type int");
    require_in(refusal([&] { (void)m.regions.copy(at(i, field<int>{7}), at(i, f)); }),
               "no field number 7");
    require_in(
        refusal([&] { (void)m.regions.copy(at(i, f).by(i, field<std::int64_t>{0}), at(i, f)); }),
        "indices are std::int64_t");
    m.good(m.regions.destroy(i), "destroy");
  });
}

TEST_P(Edges, AnUnknownOperatorIsTheOwnersProblem) {
  run(2, [](member& m) {
    schema what(10);
    const auto f = what.add<int>("f");
    const made mine = m.regions.create(what, memory::shared(job_rank{m.rank}));
    const instance target = m.share(0, mine.what);
    if (m.rank == 1) {
      m.good(m.regions.fill(at(mine.what, f), 1), "fill");
      m.regions.add<rare>();
      m.bad(m.regions.reduce<rare>(at(mine.what, f), at(target, f)), "a reduction");
    }
    m.meet();
    if (m.rank == 0) {
      require_in(m.regions.last_problem(), "not known on rank 0");
    }
  });
}

TEST_P(Edges, DestroyedInstancesAreTold) {
  run(2, [](member& m) {
    schema what(10);
    const auto f = what.add<int>("f");
    const made one = m.regions.create(what, memory::shared(job_rank{m.rank}));
    const instance other = m.share(0, one.what);
    m.good(m.regions.fill(at(other, f, {{m.rank * 5, 5, 1}}), m.rank), "fill");
    m.meet();
    if (m.rank == 1) {
      m.good(m.regions.destroy(other), "destroy from afar");
    }
    m.meet();
    require_in(refusal([&] { (void)m.regions.fill(at(other, f), 1); }), "destroyed");
    require_in(refusal([&] { (void)m.regions.destroy(other); }), "destroyed");
    require_in(refusal([&] { (void)m.regions.shape_of({}); }), "stands for none");
    // Between the call and the work.
    if (m.rank == 1) {
      const user_event go = m.events.create();
      const event filled = m.regions.fill(at(one.what, f), 1, go);
      m.good(m.regions.destroy(one.what), "destroy");
      m.events.trigger(go);
      m.bad(filled, "a fill of what has been destroyed");
    }
    m.meet();
  });
}

TEST_P(Edges, PoisonStopsEverything) {
  run(2, [](member& m) {
    schema what(10);
    const auto f = what.add<int>("f");
    const made one = m.regions.create(what, memory::shared(job_rank{m.rank}));
    const made two = m.regions.create(what, memory::heap(job_rank{m.rank}));
    const instance far = m.share(0, two.what);
    m.good(m.regions.fill(at(one.what, f), 7), "fill");
    m.good(m.regions.fill(at(two.what, f), 8), "fill");
    m.regions.add<sum<int>>();
    m.meet();
    const user_event later = m.events.create();
    for (const event before : {m.poison(), static_cast<event>(later)}) {
      const event ends[] = {
          m.regions.fill(at(one.what, f), 1, before),
          m.regions.copy(at(two.what, f), at(one.what, f), before),
          m.regions.copy(at(far, f), at(one.what, f), before),
          m.regions.reduce<sum<int>>(at(two.what, f), at(one.what, f), before),
          m.regions.destroy(one.what, before),
          m.regions.create(what, memory::shared(job_rank{m.rank}), {}, before).ready,
          m.regions.create(what, memory::global(), {}, before).ready,
          [&] {
            list<sum<int>> some(m.regions, one.what, f);
            some.reduce(3, 1);
            return some.merge(before);
          }(),
          [&] {
            fold<sum<int>> some(m.regions, one.what, f);
            some.reduce(3, 1);
            return some.merge(before);
          }()};
      if (before == later) {
        m.events.poison(later);
      }
      for (const event e : ends) {
        m.bad(e, "something after a poisoned event");
      }
    }
    for (const int value : m.regions.look(one.what, f).span()) {
      require(value == 7, "something was done all the same");
    }
    m.meet();
    m.good(m.regions.destroy(one.what), "destroy");
  });
}

TEST_P(Edges, IndicesOutsideFailTheCopy) {
  run(2, [](member& m) {
    schema what(10);
    const auto f = what.add<int>("f");
    const auto n = what.add<std::int64_t>("n");
    const instance i = m.regions.create(what, memory::shared(job_rank{m.rank})).what;
    m.good(m.regions.fill(at(i, n), std::int64_t{3}), "fill");
    m.good(m.regions.copy(at(i, f).by(i, n), at(i, f)), "gather");
    m.regions.look(i, n)[4] = 10;
    m.bad(m.regions.copy(at(i, f).by(i, n), at(i, f)), "gather");
    require_in(m.regions.last_problem(), "index 10 (the 4th) lies outside");
    m.regions.look(i, n)[4] = -1;
    m.bad(m.regions.copy(at(i, f), at(i, f).by(i, n)), "scatter");
    m.meet();
  });
}

TEST_P(Edges, ContributionsOutsideFailTheMerge) {
  run(2, [](member& m) {
    schema what(10);
    const auto f = what.add<int>("f");
    const made one = m.regions.create(what, memory::shared(job_rank{m.rank}));
    const instance target = m.share(1, one.what);
    m.good(m.regions.fill(at(one.what, f), 0), "fill");
    m.regions.add<sum<int>>();
    m.meet();
    if (m.rank == 0) {
      list<sum<int>> some(m.regions, target, f);
      some.reduce(10, 1);
      some.reduce(9, 1);
      m.bad(some.merge(), "a list with an element outside");
      some.reduce(9, 1);
      m.good(some.merge(), "the same list, used again");
      single<sum<int>> each(m.regions, target, f);
      each.reduce(8, 1);
      each.reduce(std::uint64_t{1} << 40, 1);
      m.bad(each.flush(), "a single reduction outside");
      each.reduce(8, 1);
      m.good(each.flush(), "the same, used again");
      const auto values = m.regions.look(m.seen(what, target), f);
      require(values[9] == 2 && values[8] == 2, "what lay inside was not applied");
    }
    m.meet();
  });
}

TEST_P(Edges, HandlesAreReusedInTurn) {
  setting_base* most = settings::find("SINEW_REGION_INSTANCES");
  most->parse("4");
  run(1, [](member& m) {
    schema what(10);
    (void)what.add<int>("f");
    std::vector<instance> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(m.regions.create(what, memory::heap(0)).what);
    }
    require_in(refusal([&] { (void)m.regions.create(what, memory::symmetric()); }),
               "SINEW_REGION_INSTANCES");
    for (int i = 0; i < 100; ++i) {
      const instance old = all.front();
      m.good(m.regions.destroy(old), "destroy");
      all.erase(all.begin());
      all.push_back(m.regions.create(what, memory::heap(0)).what);
      require(all.back() != old, "a handle came back");
      require_in(refusal([&] { (void)m.regions.shape_of(old); }), "destroyed");
    }
  });
  most->parse(most->default_text());
}

TEST_P(Edges, AnInstanceWaitsForMemoryThatWillBeGivenBack) {
  setting_base* limit = settings::find("SINEW_REGION_HEAP");
  limit->parse("1M");
  run(2, [](member& m) {
    const auto of = [&](std::uint64_t bytes, event after = {}) {
      schema what(bytes);
      (void)what.add<char>("bytes");
      return m.regions.create(what, memory::heap(0), {}, after);
    };
    const auto pending = [&](event e) { return m.events.look(e) == sinew::event::state::pending; };
    // Rank 1 makes and destroys what lies at rank 0, then rank 0 itself.
    for (const int maker : {1, 0}) {
      m.meet();
      if (m.rank != maker) {
        continue;
      }
      const made first = of(800'000);
      m.good(first.ready, "the first");
      const user_event used = m.events.create();
      const event gone = m.regions.destroy(first.what, used);
      const made second = of(700'000);
      const made too_large = of(2'000'000);
      m.bad(too_large.ready, "more than there will ever be");
      require_in(m.regions.why(too_large.what), "no room for 2000000 bytes");
      const made too_many = of(400'000);
      m.bad(too_many.ready, "more than the second leaves");
      const made small = of(100'000);
      m.good(small.ready, "what the second does not need");
      require(pending(second.ready), "there was no memory for the second");
      const user_event used_again = m.events.create();
      const event gone_again = m.regions.destroy(second.what, used_again);
      const made third = of(800'000);  // waits for what itself still waits
      m.events.trigger(used);
      m.good(gone, "destroy");
      m.good(second.ready, "the second");
      require(pending(third.ready), "there was no memory for the third");
      m.events.trigger(used_again);
      m.good(gone_again, "destroy");
      m.good(third.ready, "the third");

      // A destruction that fails gives nothing back.
      const user_event never = m.events.create();
      const event kept = m.regions.destroy(third.what, never);
      const made fourth = of(800'000);
      const made after_it = of(10, fourth.ready);
      require(pending(fourth.ready), "there was no memory for the fourth");
      m.events.poison(never);
      m.bad(kept, "destroy after a failure");
      m.bad(fourth.ready, "the fourth");
      m.bad(after_it.ready, "what follows it");
      require_in(m.regions.why(fourth.what), "SINEW_REGION_HEAP=2M or more");
      for (const made& each : {third, small, too_large, too_many, fourth, after_it}) {
        m.good(m.regions.destroy(each.what), "destroy");
      }
      const made last = of(1'000'000);
      m.good(last.ready, "all of it, at the end");
      m.good(m.regions.destroy(last.what), "destroy");
      const made after_last = of(10);  // its owner has heard of the destruction before it answers
      m.good(after_last.ready, "ten bytes");
      m.good(m.regions.destroy(after_last.what), "destroy");
    }
    m.meet();
  });
  limit->parse(limit->default_text());
}

/// So many MiB in the shared memory of a rank.
made megabytes(member& m, std::uint64_t count, int where = 0, event after = {}) {
  schema what(count << 20);
  (void)what.add<char>("bytes");
  return m.regions.create(what, memory::shared(job_rank{where}), {}, after);
}

TEST_P(Edges, WhatComesAndGoesLeavesOneLargePiece) {
  run(1,
      [](member& m) {
        std::vector<made> some;
        for (int i = 0; i < 3; ++i) {
          some.push_back(megabytes(m, 20));
          m.good(some.back().ready, "one of three");
        }
        for (const made& each : some) {
          m.good(m.regions.destroy(each.what), "destroy");
        }
        const made large = megabytes(m, 62);
        require(m.events.wait(large.ready) == sinew::event::state::triggered,
                m.regions.why(large.what));
        const made more = megabytes(m, 10);
        m.bad(more.ready, "more than there is");
        require_in(m.regions.why(more.what), "SINEW_RMA_LOCAL_HEAP=7");  // 72 to 74 MiB
        m.good(m.regions.destroy(more.what), "destroy");
        m.good(m.regions.destroy(large.what), "destroy");
      },
      {std::size_t{8} << 20, std::size_t{64} << 20});
}

TEST_P(Edges, WhatWasAcceptedIsNotRefusedLater) {
  run(2,
      [](member& m) {
        if (m.rank == 0) {
          for (const int where : {0, 1}) {
            const made a = megabytes(m, 20, where);
            const made b = megabytes(m, 20, where);
            m.good(m.events.merge(a.ready, b.ready), "two");
            const user_event ea = m.events.create();
            const user_event eb = m.events.create();
            const event gone =
                m.events.merge(m.regions.destroy(a.what, ea), m.regions.destroy(b.what, eb));
            const made c = megabytes(m, 60, where);
            m.events.trigger(eb);
            m.events.trigger(ea);
            require(m.events.wait(c.ready) == sinew::event::state::triggered,
                    m.regions.why(c.what));
            m.good(gone, "destroy");

            // What begins later has its memory from now on, and what cannot be had is refused now.
            const user_event go = m.events.create();
            const user_event done = m.events.create();
            const event c_gone = m.regions.destroy(c.what, done);
            const made later = megabytes(m, 40, where, go);
            const made other = megabytes(m, 30, where, go);
            m.bad(other.ready, "more than the other one leaves");
            require_in(m.regions.why(other.what), "no room for");
            const made small = megabytes(m, 20, where);
            m.events.trigger(done);
            m.good(c_gone, "destroy");
            m.good(small.ready, "what is left");
            require(m.events.look(later.ready) == sinew::event::state::pending, "it has not begun");
            m.events.trigger(go);
            m.good(later.ready, "it has its memory");

            // What is destroyed without notice makes room, too.
            const user_event never = m.events.create();
            const event kept = m.regions.destroy(later.what, never);
            const made next = megabytes(m, 20, where);
            m.good(m.regions.destroy(small.what), "destroy");
            m.good(next.ready, "it has another's memory");
            const made refused = megabytes(m, 40, where);
            m.events.poison(never);
            m.bad(kept, "destroy after a failure");
            m.bad(refused.ready, "whose memory was not given back");
            for (const made& each : {later, other, next, refused}) {
              m.good(m.regions.destroy(each.what), "destroy");
            }
          }
        }
        m.meet();
      },
      {std::size_t{8} << 20, std::size_t{64} << 20});
}

TEST_P(Edges, WhatIsNotMadeAfterAllGivesItsMemoryBack) {
  run(2,
      [](member& m) {
        if (m.rank == 0) {
          // One part is refused at once: the other, which waits, is not waited for.
          const made here = megabytes(m, 50, 0);
          const made there = megabytes(m, 50, 1);
          m.good(m.events.merge(here.ready, there.ready), "two");
          const user_event used = m.events.create();
          const event gone = m.regions.destroy(here.what, used);
          schema what(std::uint64_t{80} << 20);
          (void)what.add<char>("bytes");
          const made both = m.regions.create(what, memory::global());
          m.bad(both.ready, "an instance of which one part has no room");
          const made next = megabytes(m, 60, 0);  // no part of the other one has a place
          const user_event go = m.events.create();
          const made after_it = megabytes(m, 60, 1, go);
          m.bad(after_it.ready, "it has no room, whenever it begins");
          const made small = megabytes(m, 10, 1, go);
          m.events.poison(go);
          m.bad(small.ready, "it comes after a failure");
          const made again = megabytes(m, 10, 1);
          m.good(again.ready, "the other one has left its memory");
          m.events.trigger(used);
          m.good(gone, "destroy");
          m.good(next.ready, "all there is");
          for (const made& each : {there, both, next, after_it, small, again}) {
            m.good(m.regions.destroy(each.what), "destroy");
          }
        }
        m.meet();
      },
      {std::size_t{8} << 20, std::size_t{64} << 20});
}

TEST_P(Edges, SharedMemoryIsWaitedForAcrossRanks) {
  run(2, [](member& m) {
    const auto of = [&](std::uint64_t megabytes) {
      schema what(megabytes << 20);
      (void)what.add<char>("bytes");
      return m.regions.create(what, memory::shared(1));
    };
    instance first;
    if (m.rank == 0) {  // rank 1 may learn of it sooner than of its making
      const made one = of(20);
      m.good(one.ready, "the first");
      first = one.what;
    }
    first = m.share(0, first);
    const auto told =
        user_event(event::from_bits(m.share(0, m.rank == 0 ? m.events.create().bits() : 0)));
    if (m.rank == 1) {  // the owner of the memory destroys what rank 0 has made
      const user_event used = m.events.create();
      const event gone = m.regions.destroy(first, used);
      m.events.trigger(told);  // comes after what destroy() has sent
      m.meet();
      m.events.trigger(used);
      m.good(gone, "destroy");
    } else {
      m.good(told, "rank 1's message");
      const made second = of(20);
      for (int i = 0; i < 20; ++i) {
        (void)m.regions.memory().runtime().poll();
      }
      const auto now = m.events.look(second.ready);
      require(now == sinew::event::state::pending,
              now == sinew::event::state::poisoned ? "it was refused" : "there was room");
      m.meet();
      m.good(second.ready, "the second");
      m.good(m.regions.destroy(second.what), "destroy");
    }
    m.meet();
  });
}

TEST_P(Edges, MoreInstancesThanTheRowHasRoomForAreKnownEverywhere) {
  setting_base* most = settings::find("SINEW_REGION_INSTANCES");
  most->parse("4");
  run(3, [](member& m) {
    constexpr int count = 60;
    schema what(3);
    const auto f = what.add<int>("f");
    std::vector<made> mine;
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < count; ++i) {
        mine.push_back(m.regions.create(what, memory::shared(job_rank{m.rank})));
        m.good(m.regions.fill(at(mine.back().what, f), 1000 * m.rank + i, mine.back().ready),
               "fill");
      }
      for (const int i : {0, 3, 4, 5, 17, 18, count - 1}) {
        for (int from = 0; from < m.size; ++from) {
          const instance theirs = m.share(from, mine[static_cast<std::size_t>(i)].what);
          const made here = m.regions.create(what, memory::heap(job_rank{m.rank}));
          m.good(m.regions.copy(theirs, here.what, here.ready), "copy");
          require(m.regions.look(here.what, f)[2] == 1000 * from + i, "another instance's value");
          m.good(m.regions.destroy(here.what), "destroy");
        }
      }
      m.meet();
      for (const made& each : mine) {
        m.good(m.regions.destroy(each.what), "destroy");
        require_in(refusal([&] { (void)m.regions.shape_of(each.what); }), "destroyed");
      }
      const instance next(job_rank{m.rank}, (1u << instance::index_bits) - 1, 0);
      require_in(refusal([&] { (void)m.regions.shape_of(next); }), "stands for none");
      mine.clear();
      m.meet();
    }
  });
  most->parse(most->default_text());
}

TEST_P(Edges, AHundredThousandInstances) {
  // More than the row has room for, in one way so many.
  int count = 17'000;
  if (!slow_build && GetParam().name == std::string("processes")) {
    count = 100'000;
  }
  run(1,
      [count](member& m) {
        schema what(1);
        const auto f = what.add<int>("f");
        std::vector<instance> all;
        for (int i = 0; i < count; ++i) {
          const made one = m.regions.create(what, memory::heap(0));
          require(!one.ready.exists(), "it is not there at once");
          m.regions.look(one.what, f)[0] = i;
          all.push_back(one.what);
        }
        for (int i = 0; i < count; ++i) {
          require(m.regions.look(all[static_cast<std::size_t>(i)], f)[0] == i, "a wrong value");
        }
        for (const instance i : all) {
          m.good(m.regions.destroy(i), "destroy");
        }
      },
      {std::size_t{8} << 20, std::size_t{256} << 20});
}

INSTANTIATE_TEST_SUITE_P(, Edges, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
