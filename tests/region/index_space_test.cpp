// SPDX-License-Identifier: BSD-3-Clause
// Index spaces against sets of positions, and what moves data over them against arrays.
#include "sinew/region/index_space.hpp"

#include <set>

#include "fixture.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/random.hpp"
#include "sinew/region/sparse.hpp"

namespace sinew::region {
namespace {

using position = std::array<std::uint64_t, most_axes>;
using positions = std::set<position>;

rectangle random_rectangle(random_generator& random, const shape& within) {
  rectangle r;
  for (std::size_t a = 0; a < within.axes(); ++a) {
    r.low[a] = random.below(within.extent(a) + 1);
    r.high[a] = std::min(within.extent(a), r.low[a] + random.below(6));
  }
  return r;
}

/// All positions of a shape, in the order of its elements.
std::vector<position> all_of(const shape& s) {
  std::vector<position> all;
  position p{};
  for (std::uint64_t i = 0; i < s.elements(); ++i) {
    std::uint64_t rest = i;
    for (std::size_t a = s.axes(); a-- > 0;) {
      p[a] = rest % s.extent(a);
      rest /= s.extent(a);
    }
    all.push_back(p);
  }
  return all;
}

bool lies_in(const position& p, const rectangle& r, std::size_t axes) {
  for (std::size_t a = 0; a < axes; ++a) {
    if (p[a] < r.low[a] || p[a] >= r.high[a]) {
      return false;
    }
  }
  return true;
}

/// A space and the same as a set.
struct modelled {
  index_space space;
  positions set;
};

modelled random_space(random_generator& random, const shape& within) {
  std::vector<rectangle> any(random.below(8));
  modelled m{index_space(within.axes()), {}};
  for (rectangle& r : any) {
    r = random_rectangle(random, within);
  }
  for (const position& p : all_of(within)) {
    if (std::any_of(any.begin(), any.end(),
                    [&](const auto& r) { return lies_in(p, r, within.axes()); })) {
      m.set.insert(p);
    }
  }
  m.space = index_space(within.axes(), any);
  return m;
}

void expect_same(const modelled& m, const shape& within, const char* what) {
  const std::size_t axes = within.axes();
  ASSERT_EQ(m.space.elements(), m.set.size()) << what;
  ASSERT_EQ(m.space.empty(), m.set.empty()) << what;
  std::vector<position> listed;
  for (const position& p : all_of(within)) {
    const auto times = std::count_if(m.space.rectangles().begin(), m.space.rectangles().end(),
                                     [&](const auto& r) { return lies_in(p, r, axes); });
    ASSERT_EQ(times, m.set.contains(p) ? 1 : 0) << what;
    ASSERT_EQ(m.space.contains(std::span(p).first(axes)), m.set.contains(p)) << what;
  }
  const rectangle bounds = m.space.bounds();
  for (std::size_t a = 0; a < axes && !m.set.empty(); ++a) {
    const auto less = [a](const position& x, const position& y) { return x[a] < y[a]; };
    ASSERT_EQ(bounds.low[a], (*std::min_element(m.set.begin(), m.set.end(), less))[a]);
    ASSERT_EQ(bounds.high[a], (*std::max_element(m.set.begin(), m.set.end(), less))[a] + 1);
  }
  // However it was made, a set has one form.
  std::vector<rectangle> single;
  for (const position& p : m.set) {
    rectangle r{p, p};
    for (std::size_t a = 0; a < axes; ++a) {
      ++r.high[a];
    }
    single.push_back(r);
  }
  ASSERT_EQ(m.space, index_space(axes, single)) << what;
}

TEST(index_space, contains_searches) {
  // A chessboard: every second element of each row, 100,000 rectangles. Looked through one by one,
  // these questions take half a minute; searched, some hundredths of a second.
  constexpr std::uint64_t rows = 100;
  constexpr std::uint64_t columns = 2'000;
  std::vector<rectangle> cells;
  for (std::uint64_t r = 0; r < rows; ++r) {
    for (std::uint64_t c = r % 2; c < columns; c += 2) {
      cells.push_back({{r, c}, {r + 1, c + 1}});
    }
  }
  const index_space board(2, cells);
  ASSERT_EQ(board.rectangles().size(), rows * columns / 2);
  const std::int64_t begin = now_ns();
  std::uint64_t inside = 0;
  for (std::uint64_t r = 0; r <= rows; ++r) {
    for (std::uint64_t c = 0; c <= columns; ++c) {
      inside += board.contains({r, c}) ? 1 : 0;
    }
  }
  EXPECT_EQ(inside, board.elements());
  EXPECT_LT(now_ns() - begin, 8'000'000'000) << "it looks at all of them";
}

TEST(index_space, random_unions_intersections_and_differences_agree_with_sets) {
  const std::uint64_t seed = rma::seed();
  random_generator random(seed);
  for (int trial = 0; trial < (rma::slow_build ? 60 : 300); ++trial) {
    const shape within = trial % 3 == 0   ? shape{40}
                         : trial % 3 == 1 ? shape{9, 11}
                                          : shape{5, 6, 7};
    const modelled a = random_space(random, within);
    const modelled b = random_space(random, within);
    expect_same(a, within, "made of rectangles");
    modelled both{a.space & b.space, {}};
    modelled either{a.space | b.space, a.set};
    modelled first{a.space - b.space, {}};
    std::set_intersection(a.set.begin(), a.set.end(), b.set.begin(), b.set.end(),
                          std::inserter(both.set, both.set.end()));
    either.set.insert(b.set.begin(), b.set.end());
    std::set_difference(a.set.begin(), a.set.end(), b.set.begin(), b.set.end(),
                        std::inserter(first.set, first.set.end()));
    expect_same(both, within, "intersection");
    expect_same(either, within, "union");
    expect_same(first, within, "difference");
    EXPECT_EQ((a.space - b.space) | (a.space & b.space), a.space);
    EXPECT_EQ(index_space(within) - (index_space(within) - a.space), a.space);
    EXPECT_EQ(a.space.covers(b.space),
              std::includes(a.set.begin(), a.set.end(), b.set.begin(), b.set.end()));
    EXPECT_TRUE(either.space.covers(a.space));
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ", trial " << trial;
  }
}

TEST(index_space, has_few_rectangles_for_simple_sets) {
  const index_space whole(shape{100, 100});
  const index_space inner(2, {{{1, 1}, {99, 99}}});
  EXPECT_EQ((whole - inner).rectangles().size(), 4u);
  EXPECT_EQ((whole - inner).elements(), 396u);
  EXPECT_EQ(((whole - inner) | inner).rectangles().size(), 1u);
  std::vector<rectangle> rows;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    rows.push_back({{999 - i, 0}, {1000 - i, 50}});
  }
  EXPECT_EQ(index_space(2, rows), index_space(2, {{{0, 0}, {1000, 50}}}));
  EXPECT_TRUE(index_space(shape{0}).empty());
  EXPECT_TRUE(index_space(1, {{{5}, {5}}, {{7}, {3}}}).empty());
}

TEST(index_space, refuses_axes_that_do_not_fit) {
  const index_space line(shape{3});
  const index_space plane(shape{3, 3});
  require_in(refusal([&] { (void)(line | plane); }), "one has 1 axes and the other 2");
  require_in(refusal([&] { (void)(line & plane); }), "one has 1 axes and the other 2");
  require_in(refusal([&] { (void)(line - plane); }), "one has 1 axes and the other 2");
  require_in(refusal([&] { (void)plane.contains({1}); }), "a position of 1 axes");
  require_in(refusal([] { (void)index_space(4); }), "it would have 4 axes");
}

// --- data ---

class sparse : public region_test {};

using values = std::vector<std::int64_t>;

/// Random operations of rank 0 over random spaces, each after the one before, on instances of all
/// kinds of memory.
void move_at_random(member& m, const shape& elements, std::uint64_t salt) {
  random_generator random(rma::seed() + salt);
  schema what(elements);
  const auto f = what.add<std::int64_t>("f");
  m.regions.add<sum<std::int64_t>>();
  m.meet();
  const job_rank other{m.size - 1};
  if (m.rank == 0) {
    const std::array<memory, 4> where{memory::heap(0), memory::heap(other), memory::shared(other),
                                      memory::global()};
    std::vector<instance> all;
    std::vector<values> expected(where.size(), values(elements.elements()));
    event last;
    for (std::size_t i = 0; i < where.size(); ++i) {
      const made one = m.regions.create(what, where[i]);
      all.push_back(one.what);
      last = m.events.merge(last, m.regions.fill(at(one.what, f), std::int64_t{0}, one.ready));
    }
    const std::vector<position> places = all_of(elements);
    for (int step = 0; step < (slow_build ? 8 : 20); ++step) {
      const modelled over = random_space(random, elements);
      const std::size_t from = random.below(all.size());
      const std::size_t to = random.below(all.size());
      const auto value = static_cast<std::int64_t>(random.below(1000));
      const std::uint64_t kind = random.below(3);
      event ended;
      if (kind == 0) {
        last = fill(m.regions, at(all[to], f), value, over.space, last, &ended);
      } else if (kind == 1) {
        last = copy(m.regions, at(all[from], f), at(all[to], f), over.space, last, &ended);
      } else {
        last = reduce<sum<std::int64_t>>(m.regions, at(all[from], f), at(all[to], f), over.space,
                                         last, sharing::exclusive, &ended);
      }
      m.good(ended, "end of a sparse operation");
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (over.set.contains(places[i])) {
          std::int64_t& target = expected[to][i];
          target = kind == 0 ? value : kind == 1 ? expected[from][i] : target + expected[from][i];
        }
      }
    }
    m.good(last, "sparse operations");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const made seen = m.regions.create(what, memory::heap(0));
      m.good(m.regions.copy(all[i], seen.what, seen.ready), "copy here");
      const auto* const found =
          reinterpret_cast<const std::int64_t*>(m.regions.bytes_of(seen.what));
      require(std::equal(expected[i].begin(), expected[i].end(), found), "values differ");
      (void)m.regions.destroy(seen.what);
      m.good(m.regions.destroy(all[i]), "destroy");
    }
  }
  m.meet();
}

TEST_P(sparse, random_copies_fills_and_reductions_agree_with_arrays) {
  for (const int ranks : {1, 3}) {
    run(ranks, [](member& m) {
      move_at_random(m, shape{60}, 1);
      move_at_random(m, shape{7, 12}, 2);
      move_at_random(m, shape{4, 5, 6}, 3);
    });
  }
}

TEST_P(sparse, operations_fail_with_their_precondition_and_refuse_what_does_not_fit) {
  run(2, [](member& m) {
    schema what(shape{10, 10});
    const auto f = what.add<std::int64_t>("f");
    const made here = m.regions.create(what, memory::heap(job_rank{m.rank}));
    m.good(here.ready, "create");
    const side all = at(here.what, f);
    const index_space corner(2, {{{0, 0}, {3, 3}}, {{8, 8}, {10, 10}}});
    const index_space nothing(2);
    event ended;
    m.bad(fill(m.regions, all, std::int64_t{1}, corner, m.poison(), &ended), "fill");
    m.good(ended, "its end");
    m.bad(copy(m.regions, all, all, nothing, m.poison(), &ended), "copy of nothing");
    m.good(ended, "its end");
    require(!copy(m.regions, all, all, nothing).exists(), "nothing is done at once");
    const user_event gate = m.events.create();
    const event late = fill(m.regions, all, std::int64_t{1}, nothing, gate);
    require(m.events.look(late) == sinew::event::state::pending, "it comes after its event");
    m.events.trigger(gate);
    m.good(late, "fill of nothing");

    const index_space too_far(2, {{{0, 0}, {1, 1}}, {{9, 9}, {10, 11}}});
    require_in(refusal([&] { (void)fill(m.regions, all, std::int64_t{1}, too_far); }),
               "reaches to 11 in axis 1, and an instance has 10");
    require_in(refusal([&] { (void)copy(m.regions, all, all, index_space(shape{5})); }),
               "its index space has 1 axes and an instance 2");
    require_in(
        refusal([&] { (void)copy(m.regions, at(here.what, f, {{0, 1}, {0, 1}}), all, corner); }),
        "name the whole field");
    m.good(m.regions.destroy(here.what), "destroy");
  });
}

INSTANTIATE_TEST_SUITE_P(, sparse, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
