// SPDX-License-Identifier: BSD-3-Clause
// Reductions and prefix reductions, with operators that do not commute.
#include "trial.hpp"

namespace sinew::test {
namespace {

/// Draws an operator and a type on which it works.
struct combination {
  test_op o;
  const layout::datatype* type;

  explicit combination(trial& t) {
    switch (t.draw(3)) {
      case 0:
        o = {{.kind = coll::op_kind::sum}, add};
        type = &layout::of(layout::element::i32);
        break;
      case 1:
        o = user_op(add, true);
        type = &t.type();
        break;
      default:
        o = user_op(compose, false);
        type = &t.even_type();
        break;
    }
  }
};

/// The result over ranks [0, end), in order.
ints fold_ranks(const trial& t, const test_op& o, int end, std::size_t length) {
  ints sofar = t.values(0, length);
  for (int r = 1; r < end; ++r) {
    sofar = o.fold(sofar, t.values(r, length));
  }
  return sofar;
}

void check_reduce(trial& t, bool all) {
  const combination c(t);
  const std::size_t length = t.length();
  const std::size_t count = length / c.type->elements();
  const int root = t.root();
  const bool gets = all || t.m.rank == root;
  const bool inside = t.coin() && gets;
  area sent(*c.type, count), got(*c.type, count);
  area wanted = got;
  sent.write(0, t.values(t.m.rank, length));
  if (inside) {
    got.write(0, t.values(t.m.rank, length));
  }
  if (gets) {
    wanted.write(0, fold_ranks(t, c.o, t.m.size, length));
  }
  const void* from = inside ? in_place : sent.base();
  const coll::buffer into{gets ? got.base() : nullptr, count, c.type};
  if (all) {
    t.good(t.either(reduction(collective::allreduce, from, into, kept(c.o.op))), "allreduce");
  } else {
    t.good(t.either(reduction(collective::reduce, from, into, kept(c.o.op), comm_rank{root})),
           "reduce");
  }
  t.same(got, wanted, all ? "allreduce" : "reduce");
}

void check_scan(trial& t, bool inclusive) {
  const combination c(t);
  const std::size_t length = t.length();
  const std::size_t count = length / c.type->elements();
  const bool inside = t.coin();
  area sent(*c.type, count), got(*c.type, count);
  sent.write(0, t.values(t.m.rank, length));
  if (inside) {
    got.write(0, t.values(t.m.rank, length));
  }
  area wanted = got;
  const int end = inclusive ? t.m.rank + 1 : t.m.rank;
  if (end > 0) {
    wanted.write(0, fold_ranks(t, c.o, end, length));
  }
  const void* from = inside ? in_place : sent.base();
  t.good(t.either(reduction(inclusive ? collective::scan : collective::exscan, from, got.all(count),
                            kept(c.o.op))),
         "scan");
  t.same(got, wanted, inclusive ? "scan" : "exscan");
}

void check_reduce_scatter(trial& t, bool equal) {
  const combination c(t);
  const auto own = static_cast<std::size_t>(t.m.rank);
  offsets counts;
  std::size_t total = 0, before = 0;
  const std::size_t each = t.length() / c.type->elements();
  for (int r = 0; r < t.m.size; ++r) {
    if (r == t.m.rank) {
      before = total;
    }
    counts.push_back(static_cast<std::ptrdiff_t>(equal ? each : t.length() / c.type->elements()));
    total += static_cast<std::size_t>(counts.back());
  }
  const auto mine = static_cast<std::size_t>(counts[own]);
  const std::size_t k = c.type->elements();
  const bool inside = t.coin();
  area sent(*c.type, total), got(*c.type, inside ? total : mine);
  sent.write(0, t.values(t.m.rank, total * k));
  if (inside) {
    got.write(0, t.values(t.m.rank, total * k));
  }
  area wanted = got;
  const ints whole = fold_ranks(t, c.o, t.m.size, total * k);
  const auto from_here = whole.begin() + static_cast<std::ptrdiff_t>(before * k);
  wanted.write(0, ints(from_here, from_here + static_cast<std::ptrdiff_t>(mine * k)));
  const void* from = inside ? in_place : sent.base();
  if (equal) {
    t.good(t.either(reduction(collective::reduce_scatter, from, got.all(mine), kept(c.o.op))),
           "block");
  } else {
    t.good(t.either(reduction(collective::reduce_scatter, from,
                              counted(got.base(), counts, *c.type), kept(c.o.op))),
           "scatter");
  }
  t.same(got, wanted, equal ? "reduce_scatter_block" : "reduce_scatter");
}

TEST(combining, reduce) {
  many_trials(60, [](trial& t) { check_reduce(t, false); });
}
TEST(combining, allreduce) {
  many_trials(60, [](trial& t) { check_reduce(t, true); });
}
TEST(combining, scan) {
  many_trials(30, [](trial& t) { check_scan(t, true); });
}
TEST(combining, exscan) {
  many_trials(30, [](trial& t) { check_scan(t, false); });
}
TEST(combining, reduce_scatter) {
  many_trials(15, [](trial& t) { check_reduce_scatter(t, false); });
}
TEST(combining, reduce_scatter_block) {
  many_trials(20, [](trial& t) { check_reduce_scatter(t, true); });
}

}  // namespace
}  // namespace sinew::test
