// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory: an image for each rank, at one offset, made and destroyed together by anybody.
#include "fixture.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::region {
namespace {

class Symmetric : public region_test {};

TEST_P(Symmetric, EveryRankHasAnImageAtOneOffset) {
  for (const int ranks : {1, 2, 4}) {
    run(ranks, [](member& m) {
      schema what({6, 50});
      const auto f = what.add<int>("f");
      const int maker = m.size - 1;
      made one;
      if (m.rank == maker) {
        one = m.regions.create(what, memory::symmetric());
        require(m.regions.image(one.what, job_rank{maker}) == one.what,
                "a maker's handle is its own image");
        m.good(one.ready, "create");
      }
      const instance any = m.share(maker, one.what);
      const instance mine = m.regions.image(any, job_rank{m.rank});
      require(m.regions.owner_of(mine) == job_rank{m.rank}, "an image belongs to another rank");
      require(m.regions.parts_of(mine) == 1 && m.regions.elements_of(mine) == 300,
              "an image has not all elements");
      const std::uint64_t offset = m.regions.memory().offset_of(m.regions.bytes_of(mine));
      require(offset == m.share(0, offset), "the offset differs from rank 0's");
      m.good(m.regions.fill(at(mine, f), 10 * m.rank), "fill");
      m.meet();
      for (int r = 0; r < m.size; ++r) {  // direct access, in both ways to name it
        const instance other = m.regions.image(any, job_rank{r});
        if (!m.regions.memory().maps(job_rank{r})) {
          require_in(refusal([&] { (void)m.regions.bytes_of(other); }), "it lies on the node");
          continue;
        }
        require(m.regions.look<int, 2>(other, f)(5, 49) == 10 * r, "an image is not its rank's");
        require(m.regions.bytes_of(other) == m.regions.memory().at({job_rank{r}, offset}),
                "an image is not where its offset says");
      }
      m.meet();
      const int next = (m.rank + 1) % m.size;
      m.good(m.regions.copy(at(mine, f, {{0, 1, 1}, {}}),
                            at(m.regions.image(any, job_rank{next}), f, {{1, 1, 1}, {}})),
             "a row to the next rank");
      m.meet();
      const int before = (m.rank + m.size - 1) % m.size;
      const auto look = m.regions.look<int, 2>(mine, f);
      require(look(1, 7) == 10 * before && look(2, 7) == 10 * m.rank, "a row is wrong");
      m.meet();
      if (m.rank == 0) {
        m.good(m.regions.destroy(m.regions.image(any, job_rank{m.size / 2})), "destroy");
      }
      m.meet();
      for (int r = 0; r < m.size; ++r) {
        const instance gone(job_rank{r}, any.index(), any.generation());
        std::string why;
        m.all.until([&] {  // the creator's message tells other nodes
          try {
            const sinew::event::state s = m.events.wait(m.regions.fill(at(gone, f), 1));
            require(s == sinew::event::state::poisoned || !m.regions.memory().maps_all(),
                    "it was filled");
            return false;
          } catch (const error& e) {
            why = e.what();
            return true;
          }
        });
        require_in(why, "destroyed");
      }
      m.meet();
    });
  }
}

// All ranks make and destroy at once, in no order: what one is given nobody else has.
TEST_P(Symmetric, MadeByAllAtOnce) {
  run(3, [](member& m) {
    schema what(500);
    const auto f = what.add<std::uint64_t>("f");
    constexpr int rounds = slow_build ? 10 : 40;
    std::vector<instance> mine;
    for (int i = 0; i < rounds; ++i) {
      const made one = m.regions.create(what, memory::symmetric());
      const auto mark = static_cast<std::uint64_t>(m.rank * rounds + i);
      std::vector<event> filled;
      for (int r = 0; r < m.size; ++r) {
        filled.push_back(
            m.regions.fill(at(m.regions.image(one.what, job_rank{r}), f), mark, one.ready));
      }
      m.good(m.events.merge(filled), "fill");
      mine.push_back(one.what);
      if (i % 3 == 2) {
        m.good(m.regions.destroy(mine[mine.size() - 2]), "destroy");
        mine.erase(mine.end() - 2);
      }
    }
    int at_list = 0;
    for (int i = 0; i < rounds; ++i) {
      const bool gone = i % 3 == 1 && i + 1 < rounds;
      if (gone) {
        continue;
      }
      const instance it = mine[static_cast<std::size_t>(at_list++)];
      for (int r = 0; r < m.size; ++r) {
        for (const std::uint64_t value :
             m.regions.look(m.seen(what, m.regions.image(it, job_rank{r})), f).span()) {
          require(value == static_cast<std::uint64_t>(m.rank * rounds + i), "two share memory");
        }
      }
      m.good(m.regions.destroy(it), "destroy");
    }
    m.meet();
  });
}

TEST_P(Symmetric, ReducedIntoWhicheverImage) {
  run(2, [](member& m) {
    m.regions.add<sum<int>>();
    schema what(1000);
    const auto f = what.add<int>("f");
    made one;
    if (m.rank == 0) {
      one = m.regions.create(what, memory::symmetric());
      m.good(one.ready, "create");
    }
    const instance any = m.share(0, one.what);
    m.good(m.regions.fill(at(m.regions.image(any, job_rank{m.rank}), f), 0), "fill");
    m.meet();
    for (int r = 0; r < m.size; ++r) {
      list<sum<int>> some(m.regions, m.regions.image(any, job_rank{r}), f);
      fold<sum<int>> all(m.regions, m.regions.image(any, job_rank{r}), f);
      for (std::uint64_t i = 0; i < 1000; ++i) {
        some.reduce(i, r + 1);
        all.reduce(i, 10);
      }
      m.good(some.merge(), "list");
      m.good(all.merge(), "fold");
    }
    m.meet();
    for (const int value : m.regions.look(m.regions.image(any, job_rank{m.rank}), f).span()) {
      require(value == 2 * (m.rank + 1 + 10), "contributions went to another image");
    }
    m.meet();
  });
}

TEST_P(Symmetric, Edges) {
  setting_base* pool = settings::find("SINEW_REGION_SYMMETRIC");
  pool->parse("1M");
  run(2, [](member& m) {
    schema large(std::uint64_t{200000});
    (void)large.add<double>("f");
    const made none = m.regions.create(large, memory::symmetric());
    m.bad(none.ready, "an instance that is too large");
    require_in(m.regions.why(none.what), "symmetric memory for instances");
    require_in(m.regions.why(none.what), "SINEW_REGION_SYMMETRIC=2M or more");
    m.good(m.regions.destroy(none.what), "destroy");
    m.meet();
    schema what(std::uint64_t{30000});
    const auto f = what.add<double>("f");
    for (int i = 0; i < 50; ++i) {  // 240 KB each: it must come back
      const made one = m.regions.create(what, memory::symmetric());
      m.good(one.ready, "create");
      require_in(refusal([&] { (void)m.regions.image(one.what, 2); }), "no rank 2");
      require_in(refusal([&] { (void)m.regions.image(one.what, -1); }), "no rank -1");
      m.good(m.regions.destroy(one.what), "destroy");
      require_in(refusal([&] { (void)m.regions.image(one.what, 0); }), "destroyed");
    }
    const made plain = m.regions.create(what, memory::shared(0));
    m.good(plain.ready, "create");
    require_in(refusal([&] { (void)m.regions.image(plain.what, 0); }), "not lie in symmetric");
    m.bad(m.regions.create(what, memory::symmetric(), {}, m.poison()).ready, "after poison");
    m.good(m.regions.fill(at(plain.what, f), 1.0), "fill");
    m.meet();
  });
  pool->parse(pool->default_text());
}

INSTANTIATE_TEST_SUITE_P(, Symmetric, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
