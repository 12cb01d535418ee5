// SPDX-License-Identifier: BSD-3-Clause
// The ways to reduce give the same; alone and by many ranks at once.
#include <atomic>
#include <thread>

#include "fixture.hpp"
#include "sinew/base/random.hpp"
#include "sinew/event/reservation.hpp"

namespace sinew::region {
namespace {

/// A user's: what is reduced is not what is contributed.
struct extent_of {
  float low = 1e30f;
  float high = -1e30f;
  std::uint32_t count = 0;
  friend bool operator==(const extent_of&, const extent_of&) = default;
};
struct widen {
  using lhs = extent_of;
  using rhs = extent_of;
  static constexpr extent_of identity{};
  static void apply(extent_of& value, const extent_of& by) noexcept {
    value.low = by.low < value.low ? by.low : value.low;
    value.high = by.high > value.high ? by.high : value.high;
    value.count += by.count;
  }
  static void fold(extent_of& value, const extent_of& by) noexcept { apply(value, by); }
};

struct number_op : sum<std::uint32_t> {
  static std::uint32_t make(random_generator& random) {
    return static_cast<std::uint32_t>(random.between(0, 99));
  }
};
struct widen_op : widen {
  static extent_of make(random_generator& random) {
    const auto at = static_cast<float>(random.between(-1000, 1000));
    return {at, at, 1};
  }
};

template <class Op>
struct trial {
  member& m;
  std::uint64_t elements;
  int each;
  std::vector<typename Op::lhs> expected;
  instance target;
  field<typename Op::lhs> f;

  trial(member& all, std::uint64_t n, int contributions, memory where)
      : m(all), elements(n), each(contributions), expected(n, typename Op::lhs{}) {
    schema what(n);
    f = what.template add<typename Op::lhs>("f");
    layout_options how;
    how.how = n % 2 == 0 ? order::by_field : order::by_element;
    made one;
    if (m.rank == 0) {
      one = m.regions.create(what, where, how);
      m.good(one.ready, "create");
    }
    target = m.share(0, one.what);
    if (where.kind == memory_kind::symmetric) {
      target = m.regions.image(target, job_rank{m.size / 2});
    }
    m.regions.add<Op>();
    for (int r = 0; r < m.size; ++r) {
      each_of(r, [&](std::uint64_t e, const typename Op::rhs& by) { Op::apply(expected[e], by); });
    }
    m.meet();
  }
  template <class Each>
  void each_of(int r, Each call) {
    random_generator random(seed() + 77 + static_cast<std::uint64_t>(r));
    for (int i = 0; i < each; ++i) {
      const auto e =
          static_cast<std::uint64_t>(random.between(0, static_cast<std::int64_t>(elements) - 1));
      call(e, Op::make(random));
    }
  }
  template <class Way>
  void with(const char* name, Way way) {
    if (m.rank == 0) {
      m.good(m.regions.fill(at(target, f), typename Op::lhs{}), "fill");
    }
    m.meet();
    m.good(way(), name);
    m.meet();
    for (std::uint32_t p = 0; p < m.regions.parts_of(target); ++p) {
      if (job_rank{m.rank} != m.regions.owner_of(target, p)) {
        continue;
      }
      const layout where = layout::of(plain(), {}, m.regions.parts_of(target));
      const auto mine = m.regions.look_at_part(target, f, p);
      for (std::uint64_t e = 0; e < elements; ++e) {
        if (where.part_of(e) == p) {
          require(mine[where.within(e)] == expected[e],
                  std::string(name) + ": element " + std::to_string(e) + " is wrong");
        }
      }
    }
    m.meet();
  }
  [[nodiscard]] schema plain() const {
    schema what(elements);
    (void)what.template add<typename Op::lhs>("f");
    return what;
  }
  template <class Instance>
  event all_into(Instance& some) {
    each_of(m.rank, [&](std::uint64_t e, const typename Op::rhs& by) { some.reduce(e, by); });
    return some.merge();
  }
  void all_ways() {
    with("fold", [&] {
      fold<Op> some(m.regions, target, f);
      return all_into(some);
    });
    with("list", [&] {
      list<Op> some(m.regions, target, f);
      return all_into(some);
    });
    with("adaptive", [&] {
      adaptive<Op> some(m.regions, target, f);
      return all_into(some);
    });
    with("adaptive at once", [&] {
      adaptive<Op> some(m.regions, target, f, {0});
      return all_into(some);
    });
    with("single", [&] {
      single<Op> some(m.regions, target, f);
      each_of(m.rank, [&](std::uint64_t e, const typename Op::rhs& by) { some.reduce(e, by); });
      return some.flush();
    });
    with("a list used twice", [&] {
      list<Op> some(m.regions, target, f);
      event first;
      int done = 0;
      each_of(m.rank, [&](std::uint64_t e, const typename Op::rhs& by) {
        some.reduce(e, by);
        if (++done == each / 2) {
          first = some.merge();
        }
      });
      return m.events.merge(first, some.merge());
    });
    with("a fold used twice", [&] {
      fold<Op> some(m.regions, target, f);
      int done = 0;
      each_of(m.rank, [&](std::uint64_t e, const typename Op::rhs& by) {
        some.reduce(e, by);
        if (++done == each / 2) {
          m.good(some.merge(), "the first half");
        }
      });
      return some.merge();
    });
  }
};

class Reductions : public region_test {};

TEST_P(Reductions, AllWaysAgree) {
  for (const int ranks : {1, 2, 3, 16}) {
    if (slow_build && ranks > 3) {
      continue;
    }
    run(ranks, [](member& m) {
      const int many = slow_build ? 2000 : m.size > 3 ? 4000 : 20000;
      const std::uint64_t sparse = slow_build ? 10007 : 100003;  // all are looked at
      for (const memory where : {memory::global(), memory::shared(job_rank{m.size - 1}),
                                 memory::heap(0), memory::symmetric()}) {
        trial<number_op>(m, 1000, many, where).all_ways();
        trial<number_op>(m, sparse, many / 10, where).all_ways();
        trial<widen_op>(m, 777, many / 4, where).all_ways();
      }
    });
    if (HasFailure()) {
      return;
    }
  }
}

TEST_P(Reductions, AnInstanceIsEmptyAgainOnceItsMergeHasEnded) {
  run(2, [](member& m) {
    schema what(4);
    const auto f = what.add<int>("f");
    const instance target =
        m.share(0, m.rank == 0 ? m.regions.create(what, memory::shared(0)).what : instance{});
    m.regions.add<sum<int>>();
    m.meet();
    const auto value = [&] { return m.regions.look(m.seen(what, target), f)[1]; };
    const auto twice = [&](auto& some) {
      m.meet();
      if (m.rank == 0) {
        m.good(m.regions.fill(at(target, f), 0), "fill");
      }
      m.meet();
      if (m.rank == 1) {
        some.reduce(1, 5);
        m.good(some.merge(), "the first");
        require(value() == 5, "the first contribution is missing");
        some.reduce(1, 7);
        m.good(some.merge(), "the second");
        require(value() == 12, "the second merge gives " + std::to_string(value()));
        m.good(some.merge(), "one of nothing");
        require(value() == 12, "an empty merge gives " + std::to_string(value()));
        // What did not come to pass is gone, too: the merge has taken it.
        some.reduce(1, 100);
        m.bad(some.merge(m.poison()), "a merge after what has failed");
        some.reduce(1, 3);
        m.good(some.merge(), "the one after it");
        require(value() == 15, "after a failed merge there is " + std::to_string(value()));
      }
      m.meet();
    };
    fold<sum<int>> folds(m.regions, target, f);
    twice(folds);
    list<sum<int>> lists(m.regions, target, f);
    twice(lists);
    adaptive<sum<int>> logs(m.regions, target, f);
    twice(logs);
    adaptive<sum<int>> at_once(m.regions, target, f, {0});
    twice(at_once);
    m.meet();
  });
}

TEST_P(Reductions, AdaptiveFoldsWhenThatPays) {
  run(2, [](member& m) {
    trial<number_op> dense(m, 4096, 0, memory::global());
    adaptive<number_op> some(m.regions, dense.target, dense.f);
    for (std::uint32_t i = 0; i < 1000; ++i) {
      some.reduce(i, 1);
    }
    require(!some.has_folded(), "it has folded after few contributions");
    for (std::uint32_t i = 0; i < 100000; ++i) {
      some.reduce(i % 4096, 1);
    }
    require(some.has_folded(), "it has not folded after many contributions");
    if (m.rank == 0) {
      m.good(m.regions.fill(at(dense.target, dense.f), 0u), "fill");
    }
    m.meet();
    m.good(some.merge(), "merge");
    m.meet();
    std::uint64_t mine = 0;
    const auto part = static_cast<std::uint32_t>(m.rank);
    for (const std::uint32_t value : m.regions.look_at_part(dense.target, dense.f, part).span()) {
      mine += value;
    }
    require(m.share(0, mine) + m.share(1, mine) == 2 * 101000, "contributions are lost");
    m.meet();
  });
}

// Several threads of a rank make instances, copy and reduce at once.
TEST_P(Reductions, ByThreadsOfARank) {
  if (GetParam().threads != rma::threading::many) {
    return;
  }
  run(2, [](member& m) {
    trial<number_op> t(m, 3000, 0, memory::global());
    if (m.rank == 0) {
      m.good(m.regions.fill(at(t.target, t.f), 0u), "fill");
    }
    m.meet();
    constexpr int rounds = 20;
    schema fixed(3000);
    const auto g = fixed.add<std::uint32_t>("source");
    const instance source = m.regions.create(fixed, memory::shared(job_rank{m.rank})).what;
    m.good(m.regions.fill(at(source, g), 5u), "fill");
    std::atomic<int> failed{0};
    const auto work = [&] {
      for (int i = 0; i < rounds; ++i) {
        list<number_op> some(m.regions, t.target, t.f);
        fold<number_op> other(m.regions, t.target, t.f);
        for (std::uint32_t e = 0; e < 3000; ++e) {
          some.reduce(e, 1);
          other.reduce(e, 2);
        }
        schema what(3000);
        const auto f = what.add<std::uint32_t>("copy");
        const made here = m.regions.create(what, memory::heap(job_rank{m.rank}));
        const event e = m.regions.copy(at(source, g), at(here.what, f), some.merge());
        const event ends[] = {e, other.merge(), m.regions.destroy(here.what, e)};
        for (const event end : ends) {
          failed += m.events.wait(end) != sinew::event::state::triggered;
        }
      }
    };
    std::thread second(work);
    std::thread third(work);
    work();
    second.join();
    third.join();
    require(failed == 0, "an operation failed");
    m.meet();
    const auto mine = static_cast<std::uint32_t>(m.rank);
    for (const std::uint32_t value : m.regions.look_at_part(t.target, t.f, mine).span()) {
      require(value == 2 * 3 * 3 * rounds, "a contribution is missing");
    }
    m.meet();
  });
}

// The seed's two ways with a lock: the whole target, or each element, read and written back.
TEST_P(Reductions, UnderALock) {
  for (const int ranks : {1, 2, 4}) {
    run(ranks, [](member& m) {
      sinew::event::reservations locks(m.events);
      m.meet();
      const auto mine = m.rank == 0 ? locks.create() : sinew::event::reservation{};
      const auto lock = sinew::event::reservation::from_bits(m.share(0, mine.bits()));
      trial<number_op> t(m, 1000, slow_build ? 200 : 2000, memory::shared(0));
      t.with("localised", [&] {
        const event held = locks.acquire(lock);
        schema what(t.elements);
        const auto g = what.add<std::uint32_t>("here");
        const made here = m.regions.create(what, memory::shared(job_rank{m.rank}));
        m.good(m.regions.copy(at(t.target, t.f), at(here.what, g), held), "copy in");
        const auto values = m.regions.look(here.what, g);
        t.each_of(m.rank,
                  [&](std::uint64_t e, std::uint32_t by) { number_op::apply(values[e], by); });
        const event back = m.regions.copy(at(here.what, g), at(t.target, t.f));
        locks.release(lock, back);
        (void)m.regions.destroy(here.what, m.events.settled(back));
        return back;
      });
      if (!m.regions.memory().maps_all()) {
        m.meet();
        return;  // nothing to read and write directly
      }
      t.with("read and write", [&] {
        m.good(locks.acquire(lock), "acquire");
        const auto values = m.regions.look(t.target, t.f);
        t.each_of(m.rank,
                  [&](std::uint64_t e, std::uint32_t by) { number_op::apply(values[e], by); });
        locks.release(lock);
        return event{};
      });
      m.meet();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(, Reductions, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
