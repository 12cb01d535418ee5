// SPDX-License-Identifier: BSD-3-Clause
// Copies by many indices and by short runs, into every kind of memory, against a loop.
#include <algorithm>

#include "fixture.hpp"

namespace sinew::region {
namespace {

using values = std::vector<std::int64_t>;

struct place_to_be {
  const char* name;
  memory where;
};

class Scattered : public region_test {};

/// An instance that holds these, wherever it lies.
instance holding(member& m, memory where, const values& v, const layout_options& how = {}) {
  schema what(v.size());
  const auto f = what.add<std::int64_t>("f");
  const made there = m.regions.create(what, where, how);
  const made here = m.regions.create(what, memory::shared(job_rank{m.rank}));
  std::copy(v.begin(), v.end(), m.regions.look(here.what, f).data());
  m.good(m.regions.copy(at(here.what, f), at(there.what, f), there.ready), "copy out");
  m.good(m.regions.destroy(here.what), "destroy");
  return there.what;
}

values held(member& m, instance i) {
  schema what(m.regions.shape_of(i));
  const auto f = what.add<std::int64_t>("f");
  const made here = m.regions.create(what, memory::shared(job_rank{m.rank}));
  m.good(m.regions.copy(at(i, f), at(here.what, f)), "copy back");
  const auto all = m.regions.look(here.what, f).span();
  const values v(all.begin(), all.end());
  m.good(m.regions.destroy(here.what), "destroy");
  return v;
}

void check(const values& got, const values& expected, const std::string& what) {
  const auto wrong = std::mismatch(got.begin(), got.end(), expected.begin());
  require(wrong.first == got.end(),
          what + ": element " + std::to_string(wrong.first - got.begin()) + " is wrong");
}

/// Numbers below `n`, some of them twice, some side by side.
values indices(random_generator& random, std::int64_t n, std::size_t count) {
  values list;
  while (list.size() < count) {
    const std::int64_t at = random.between(0, n - 1);
    const std::int64_t run = std::min(random.between(1, 4), n - at);
    for (std::int64_t i = 0; i < run; ++i) {
      list.push_back(at + i);
    }
  }
  list.resize(count);
  return list;
}

// More elements than are worked on at once, from and to private memory of the other rank, with a
// layout whose elements lie apart.
TEST_P(Scattered, ManyIndices) {
  run(2, [](member& m) {
    constexpr field<std::int64_t> f{0};
    const std::int64_t n = slow_build ? 20000 : 200000;
    const std::size_t count = slow_build ? 9000 : 40000;
    random_generator random(seed());
    if (m.rank == 0) {
      values all(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<std::int64_t>(i * 7);
      }
      const values list = indices(random, n, count);
      values some(count);
      for (std::size_t i = 0; i < count; ++i) {
        some[i] = -static_cast<std::int64_t>(i) - 1;
      }
      values gathered(count);
      values scattered = all;
      for (std::size_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(list[i]);
        gathered[i] = all[at];
        scattered[at] = some[i];
      }
      const instance index = holding(m, memory::heap(1), list);
      for (const place_to_be& big : {place_to_be{"own", memory::heap(0)},
                                     {"private of another", memory::heap(1)},
                                     {"shared", memory::shared(1)},
                                     {"striped", memory::global()},
                                     {"symmetric", memory::symmetric()}}) {
        for (const memory near : {memory::heap(0), memory::shared(0)}) {
          const instance from = holding(m, big.where, all);
          const instance to = holding(m, near, some);
          m.good(m.regions.copy(at(to, f), at(from, f).by(index, f)), "scatter");
          check(held(m, from), scattered, std::string("scatter to memory that is ") + big.name);
          m.good(m.regions.destroy(from), "destroy");
          const instance again = holding(m, big.where, all);
          m.good(m.regions.copy(at(again, f).by(index, f), at(to, f)), "gather");
          check(held(m, to), gathered, std::string("gather from memory that is ") + big.name);
          m.good(m.regions.destroy(again), "destroy");
          m.good(m.regions.destroy(to), "destroy");
        }
      }
      m.good(m.regions.destroy(index), "destroy");
    }
    m.meet();
  });
}

// The last one counts, also where ranks of several nodes have parts of the source.
TEST_P(Scattered, AnElementThatIsNamedTwice) {
  run(4, [](member& m) {
    constexpr field<std::int64_t> f{0};
    const std::int64_t n = 64;
    values all(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<std::int64_t>(i) + 1;
    }
    for (int caller = 0; caller < m.size; ++caller) {
      for (job_rank owner = 0; owner.below(m.size) && m.rank == caller; ++owner) {
        for (const memory where : {memory::heap(owner), memory::shared(owner)}) {
          const instance from = holding(m, memory::global(), all);
          const instance index = holding(m, where, values(all.size(), 3));
          const instance to = holding(m, where, values(5, 0));
          m.good(m.regions.copy(at(from, f), at(to, f).by(index, f)), "scatter");
          check(held(m, to), {0, 0, 0, n, 0}, "the element that is named each time");
          for (const instance each : {from, index, to}) {
            m.good(m.regions.destroy(each), "destroy");
          }
        }
      }
      m.meet();
    }
  });
}

// So long that owners of other nodes fetch them.
TEST_P(Scattered, ALongElementThatIsNamedTwice) {
  constexpr std::size_t words = 32768;
  struct block {
    std::int64_t number[words];
  };
  run(3, [](member& m) {
    const std::size_t n = 40;
    for (int round = 0; round < (slow_build ? 1 : 4) && m.rank == 0; ++round) {
      schema what(n);
      const auto f = what.add<block>("f");
      const made from = m.regions.create(what, memory::shared(0));
      const made to = m.regions.create(what, memory::shared(2));
      m.good(from.ready, "create");
      m.good(to.ready, "create");
      for (std::size_t i = 0; i < n; ++i) {
        std::fill_n(m.regions.look(from.what, f)[i].number, words, static_cast<std::int64_t>(i));
      }
      const instance index = holding(m, memory::shared(0), values(n, 1));
      m.good(m.regions.copy(at(from.what, f), at(to.what, f).by(index, field<std::int64_t>{0})),
             "scatter");
      m.good(m.regions.copy(at(to.what, f, {{1, 1}}), at(from.what, f, {{0, 1}})), "copy back");
      const block& got = m.regions.look(from.what, f)[0];
      for (const std::int64_t number : got.number) {
        require(number == static_cast<std::int64_t>(n) - 1,
                "a block has a word of number " + std::to_string(number));
      }
      for (const instance each : {from.what, to.what, index}) {
        m.good(m.regions.destroy(each), "destroy");
      }
    }
    m.meet();
  });
}

// The indices are read before anything is written, by each rank that has a part of the source.
TEST_P(Scattered, AGatherIntoItsOwnIndices) {
  run(4, [](member& m) {
    constexpr field<std::int64_t> f{0};
    const std::size_t n = 64;
    values all(n);
    values backwards(n);
    for (std::size_t i = 0; i < n; ++i) {
      all[i] = static_cast<std::int64_t>(i) + 1000;
      backwards[i] = static_cast<std::int64_t>(n - i) - 1;
    }
    for (int caller = 0; caller < m.size; ++caller) {
      for (job_rank owner = 0; owner.below(m.size) && m.rank == caller; ++owner) {
        const instance from = holding(m, memory::global(), all);
        const instance index = holding(m, memory::shared(owner), backwards);
        m.good(m.regions.copy(at(from, f).by(index, f), at(index, f)), "gather");
        check(held(m, index), values(all.rbegin(), all.rend()), "backwards");
        m.good(m.regions.destroy(from), "destroy");
        m.good(m.regions.destroy(index), "destroy");
      }
      m.meet();
    }
  });
}

// Within one field both are staged: the result is as if all had been read first.
TEST_P(Scattered, PermutationInPlace) {
  run(2, [](member& m) {
    constexpr field<std::int64_t> f{0};
    if (m.rank == 0) {
      const std::size_t n = 5000;
      values order(n);
      for (std::size_t i = 0; i < n; ++i) {
        order[i] = static_cast<std::int64_t>((i * 1999 + 7) % n);
      }
      const instance index = holding(m, memory::shared(0), order);
      for (const memory where : {memory::heap(0), memory::heap(1), memory::global()}) {
        values all(n);
        for (std::size_t i = 0; i < n; ++i) {
          all[i] = static_cast<std::int64_t>(i);
        }
        const instance it = holding(m, where, all);
        m.good(m.regions.copy(at(it, f), at(it, f).by(index, f)), "scatter in place");
        values expected(n);
        for (std::size_t i = 0; i < n; ++i) {
          expected[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
        }
        check(held(m, it), expected, "a permutation");
        m.good(m.regions.copy(at(it, f).by(index, f), at(it, f)), "gather in place");
        check(held(m, it), all, "and back");
        m.good(m.regions.destroy(it), "destroy");
      }
      m.good(m.regions.destroy(index), "destroy");
    }
    m.meet();
  });
}

// Columns and every third element of private memory: what lies between must stay.
TEST_P(Scattered, ShortRunsOfPrivateMemory) {
  run(2, [](member& m) {
    if (m.rank == 0) {
      constexpr std::uint64_t rows = 700;
      constexpr std::uint64_t columns = 40;
      schema grid({rows, columns});
      const auto f = grid.add<std::int64_t>("f");
      const auto g = grid.add<std::int64_t>("g");
      schema line(rows * 2);
      const auto h = line.add<std::int64_t>("h");
      const made far = m.regions.create(grid, memory::heap(1), {order::by_element});
      const made here = m.regions.create(line, memory::heap(0));
      m.good(m.regions.fill(at(far.what, f), std::int64_t{5}, far.ready), "fill");
      m.good(m.regions.fill(at(far.what, g), std::int64_t{6}), "fill");
      for (std::uint64_t i = 0; i < rows * 2; ++i) {
        m.regions.look(here.what, h)[i] = static_cast<std::int64_t>(i) + 100;
      }
      const section two_columns{{}, {3, 2, 9}};
      m.good(m.regions.copy(at(here.what, h), at(far.what, f, two_columns)), "two columns");
      m.good(m.regions.fill(at(here.what, h), std::int64_t{0}), "fill");
      m.good(m.regions.copy(at(far.what, f, two_columns), at(here.what, h)), "and back");
      for (std::uint64_t i = 0; i < rows * 2; ++i) {
        require(m.regions.look(here.what, h)[i] == static_cast<std::int64_t>(i) + 100,
                "a column's element is wrong");
      }
      const made whole = m.regions.create(grid, memory::shared(0));
      m.good(m.regions.copy(far.what, whole.what), "all of it");
      const auto a = m.regions.look<std::int64_t, 2>(whole.what, f);
      const auto b = m.regions.look<std::int64_t, 2>(whole.what, g);
      for (std::uint64_t i = 0; i < rows; ++i) {
        for (std::uint64_t j = 0; j < columns; ++j) {
          require((j == 3 || j == 12 || a(i, j) == 5) && b(i, j) == 6, "a neighbour was touched");
        }
      }
    }
    m.meet();
  });
}

INSTANTIATE_TEST_SUITE_P(, Scattered, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
